// Reads its input and never responds.

process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
