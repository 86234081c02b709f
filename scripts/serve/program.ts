/** Programs that run in a process of their own and end: what they load and read does not stay in the service. */
import { execFile } from 'node:child_process'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'

const outputBytesMax = 4_194_304

/** Runs a program of this folder with input on its standard input, which no list of processes shows. */
export async function runProgram<Output>(
  name: string,
  input: object,
  output: z.ZodType<Output>,
): Promise<Output> {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const running = promisify(execFile)(process.execPath, [file], { maxBuffer: outputBytesMax })
  running.child.stdin?.end(JSON.stringify(input))
  return output.parse(JSON.parse((await running).stdout))
}

/** Reads the input of this process as such a program. */
export async function programInput<Input>(schema: z.ZodType<Input>): Promise<Input> {
  return schema.parse(await json(process.stdin))
}
