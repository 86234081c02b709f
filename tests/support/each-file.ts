/** Runs before each test file. */
import { endAfterFile } from './ending.ts'

endAfterFile()
