package windows

import (
	"fmt"
	"reflect"
	"testing"
)

func TestSums(t *testing.T) {
	for _, c := range []struct {
		values []int
		width  int
		want   []int
	}{
		{nil, 2, nil},
		{[]int{1, 2, 3}, 1, []int{1, 2, 3}},
		{[]int{1, 2, 3, 4}, 2, []int{3, 5, 7}},
		{[]int{5, 5, 5, 5}, 3, []int{15, 15}},
		{[]int{1}, 4, nil},
		{[]int{9, 8, 7, 6, 5}, 5, []int{35}},
	} {
		t.Run(fmt.Sprintf("%d_of_%d", c.width, len(c.values)), func(t *testing.T) {
			t.Logf("summing %v", c.values)
			if got := Sums(c.values, c.width); !reflect.DeepEqual(got, c.want) {
				t.Errorf("Sums(%v, %d) = %v, want %v", c.values, c.width, got, c.want)
			}
		})
	}
}

func TestLabel(t *testing.T) {
	if got := Label([]int{1, 2}); got != "1, 2" {
		t.Fatalf("Label = %q, want %q", got, "1, 2")
	}
}

func TestOutside(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Skip("no panic here")
		}
	}()
	values := []int{1, 2, 3}
	_ = values[len(values)-4]
}

func TestNil(t *testing.T) {
	var sums map[string][]int
	sums["a"] = Sums([]int{1, 2}, 1)
}
