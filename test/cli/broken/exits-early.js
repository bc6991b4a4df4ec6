// Ends before it has answered anything.

console.error('no configuration found')
process.exit(7)
