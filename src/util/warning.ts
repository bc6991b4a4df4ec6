/**
 * A report to the author of a program: something works, and is probably a mistake. It has no stack,
 * because the frames would be those of the library and would hide the message.
 */
export class Warning extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Warning'
    this.stack = `Warning: ${message}`
  }
}
