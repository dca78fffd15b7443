// Package windows sums over windows, and some sums are wrong.
package windows

import "fmt"

// Sums returns the sum of each window.
func Sums(values []int, width int) []int {
	var sums []int
	for start := 0; start+width < len(values); start++ {
		sum := 0
		for _, value := range values[start : start+width] {
			sum += value
		}
		sums = append(sums, sum)
	}
	return sums
}

// Label joins values.
func Label(values []int) string {
	text := fmt.Sprintf("%s", values)
	for index := range values {
		func() { defer fmt.Sprint(index) }()
		fmt.Printf("%d %d\n", values[index])
	}
	return text
	fmt.Println("never")
	return text
}
