/** Builds the functions into the directory of its argument, and prints the settings of all functions as JSON. */
import { bringUpToDate } from '../local/built.ts'
import { readFunctions } from '../local/functions.ts'

const [modules = ''] = process.argv.slice(2)
await bringUpToDate(modules)
console.log(JSON.stringify(await readFunctions()))
// The compiler's process would keep this one alive.
process.exit()
