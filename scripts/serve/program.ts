/** Programs that run in a process of their own and end: what they load and read does not stay in the service. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import { mailDomain as localMailDomain } from '../local/bindings.ts'
import type { Settings } from './settings.ts'

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

const ownHosts = ['127.0.0.1', 'localhost', '[::1]']

/** Throws a sentence that names every such setting; `environment` is that of this process. */
export function refuseDevelopment(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const { directory, baseUrl, mailDomain, mail } = settings
  const { protocol, hostname } = new URL(baseUrl)
  const found = [
    existsSync(join(directory, 'world.json')) || existsSync(join(directory, 'secrets.json'))
      ? `${directory} is the folder of a local world, whose keys npm start has made`
      : [],
    protocol !== 'https:' && !ownHosts.includes(hostname)
      ? `public_url is ${baseUrl}, which is not https`
      : [],
    mail && !/^(https|smtps):/.test(mail.url) ? `mail_url is neither https: nor smtps:` : [],
    mailDomain === localMailDomain ? `mail_domain ${mailDomain} is that of the local world` : [],
    environment['ALLOW_LOOPBACK'] === 'true' ? 'ALLOW_LOOPBACK is for the local world' : [],
    environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? 'NODE_TLS_REJECT_UNAUTHORIZED lets anybody stand in for every other server'
      : [],
  ].flat()
  if (found.length > 0) throw new Error(`not for a real service: ${found.join('; ')}`)
}
