/**
 * Program that builds the functions into a directory, and prints the settings of all functions. The compiler is
 * loaded here alone.
 */
import * as z from 'zod'
import { bringUpToDate } from '../local/built.ts'
import { readFunctions } from '../local/functions.ts'
import { buildChild } from './build-child.ts'
import { databaseModule } from './platform.ts'
import { programInput } from './program.ts'

const { modules } = await programInput(z.object({ modules: z.string() }))
// Built with them, so that the database throws the errors that they recognize.
await bringUpToDate(modules, { [databaseModule]: 'shared/db/direct/direct.ts' })
await buildChild(modules)
console.log(JSON.stringify(await readFunctions()))
// The compiler's process would keep this one alive.
process.exit()
