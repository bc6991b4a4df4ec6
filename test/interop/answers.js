/** What every server of these tests fails with when it is told to. */
export const fault = { code: -31_999, message: 'no such luck', data: { tried: [1, null, 'é'] } }

/** What every server of these tests answers, before it is put into the words of a library. */
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
