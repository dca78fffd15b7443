// What the scratch test suites check, as data: a function of `durations`, its arguments, and what is expected. Six of them fail.
export const cases = {
  parse: [
    ["1s", 1], ["59s", 59], ["1m", 60], ["90m", 5400], ["1h", 3600], ["1h30m", 5400], ["2h5s", 7205], ["1d", 86400], ["1d12h", 129600],
    ["7d", 604800], ["10m10s", 610], ["0s", 0], ["100h", 360000], ["90", 90], ["1h 30m", 5400], ["1d1h1m1s", 90061], ["3d4h", 273600], ["45m", 2700],
  ].map(([text, expected]) => ({ arguments: [text], expected })),
  render: [
    [1, "1s"], [59, "59s"], [60, "1m"], [61, "1m1s"], [3600, "1h"], [5400, "1h30m"], [7205, "2h5s"], [86400, "1d"], [90061, "1d1h1m1s"],
    [0, "0s"], [604800, "7d"], [129600, "1d12h"], [610, "10m10s"], [360000, "4d4h"], [273600, "3d4h"], [86399, "23h59m59s"],
  ].map(([seconds, expected]) => ({ arguments: [seconds], expected })),
  slug: [
    ["Hello World", "hello-world"], ["a  b", "a-b"], ["Release 2.1", "release-2-1"], ["What's new?", "what-s-new"], ["snake_case_name", "snake-case-name"],
    ["UPPER", "upper"], ["1 2 3", "1-2-3"], ["tabs\tand spaces", "tabs-and-spaces"], ["trailing dots...", "trailing-dots"], ["a/b/c", "a-b-c"],
  ].map(([text, expected]) => ({ arguments: [text], expected })),
  median: [
    [[3, 1, 2], 2], [[1], 1], [[5, 5, 5], 5], [[9, 1, 8, 2, 7], 7], [[1, 2, 3, 4], 2.5], [[-5, 0, 5], 0], [[10, 30, 20], 20], [[4, 4, 1, 9, 4], 4],
  ].map(([values, expected]) => ({ arguments: [values], expected })),
  clamp: [
    [5, 0, 10, 5], [-5, 0, 10, 0], [15, 0, 10, 10], [0, 0, 0, 0], [7, 7, 9, 7], [9, 7, 9, 9], [3, -3, 3, 3], [-9, -3, 3, -3],
  ].map(([value, low, high, expected]) => ({ arguments: [value, low, high], expected })),
};
