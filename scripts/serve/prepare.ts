/**
 * Builds the functions and reads what wrangler.toml says of them, in a process of its own: the compiler and
 * wrangler would stay in the memory of the service for as long as it runs.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { FunctionSettings } from '../local/functions.ts'

const outputBytesMax = 4_194_304
const settingsSchema = z.array(
  z.custom<FunctionSettings>((value) => typeof value === 'object' && value !== null),
)

/** Brings the bundles in `modules` up to date. Returns the settings of all functions. */
export async function prepareFunctions(modules: string): Promise<FunctionSettings[]> {
  const program = fileURLToPath(new URL('prepare-program.ts', import.meta.url))
  const running = promisify(execFile)(process.execPath, [program, modules], {
    maxBuffer: outputBytesMax,
  })
  return settingsSchema.parse(JSON.parse((await running).stdout))
}
