/** The methods of the specification's examples page. */
export const pageMethods = {
  subtract: (first, second) =>
    typeof first === 'object' ? first.minuend - first.subtrahend : first - second,
  sum: (...numbers) => numbers.reduce((total, number) => total + number, 0),
  get_data: () => ['hello', 5],
  update: () => {},
  notify_hello: () => {},
  notify_sum: () => {},
}
