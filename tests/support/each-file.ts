/** Setup that runs before each test file. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { endAfterFile } from './ending.ts'
import { beginFile, seed } from './seed.ts'

fc.configureGlobal({ seed })
beginFile(expect.getState().testPath?.replace(`${process.cwd()}/`, '') ?? '')
endAfterFile()
