/** Setup that runs before each test file. */
import fc from 'fast-check'
import { endAfterFile } from './ending.ts'

const seed = process.env['PROPERTY_SEED']
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) })

endAfterFile()
