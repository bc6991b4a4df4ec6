/** The error of the method that always fails. */
export const fault = { code: -31_999, message: 'no such luck', data: { tried: [1, null, 'é'] } }

/** The methods of every server in these tests, independent of a library. */
export function answers() {
  let marks = []
  return {
    add: (a, b) => a + b,
    greet: name => `Hello, ${name}!`,
    echo: value => value,
    nothing: () => null,
    mark: word => void marks.push(word),
    marks: () => marks,
    forget: () => {
      marks = []
    },
  }
}
