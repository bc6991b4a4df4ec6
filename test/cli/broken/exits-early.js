// Exits before it responds.

console.error('no configuration found')
process.exit(7)
