/** What the README tells people to put into their configurations is what the programs read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { readFunctions } from '../../scripts/local/functions.ts'
import { root } from '../../scripts/packages/package.ts'

const name = '@agent-operating-account/mcp'
const files = ['scripts/mcp/README.md', 'README.md']
const texts = files.map((file) => readFileSync(join(root, file), 'utf8'))

function fences(language: string): string[] {
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')
  return texts.flatMap((text) => [...text.matchAll(fence)].map(([, inside = '']) => inside))
}

/** Tables of strings and lists, which are written in TOML as in JSON. */
function readToml(text: string): unknown {
  const whole: Record<string, unknown> = {}
  let table = whole
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, path] = /^\[([a-z_.]+)\]$/.exec(line) ?? []
    const [, key, value = ''] = /^(\w+) = (.+)$/.exec(line) ?? []
    if (path !== undefined) table = tableAt(whole, path.split('.'))
    else if (key !== undefined) table[key] = JSON.parse(value)
    else throw new Error(`not read: ${line}`)
  }
  return whole
}

function tableAt(
  within: Record<string, unknown>,
  path: readonly string[],
): Record<string, unknown> {
  return path.reduce((table, step) => {
    const inner: Record<string, unknown> = z
      .record(z.string(), z.unknown())
      .parse(table[step] ?? {})
    table[step] = inner
    return inner
  }, within)
}

const key = z.enum(['aoa_live_...', '${input:aoa-key}'])
const started = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.literal('npx'),
  args: z.tuple([z.literal('-y'), z.literal(name)]),
  env: z.strictObject({ AOA_BASE_URL: z.literal('https://account.example'), AOA_API_KEY: key }),
})
const address = z.literal('https://account.example/mcp')
const remote = z.union([
  z.strictObject({ url: address }),
  z.strictObject({ httpUrl: address }),
  z.strictObject({ type: z.literal('http'), url: address }),
])
const servers = z.strictObject({ account: z.union([started, remote]) })
const input = z.object({
  id: z.literal('aoa-key'),
  type: z.literal('promptString'),
  password: z.literal(true),
})
const configuration = z.union([
  z.strictObject({ mcpServers: servers }),
  z.strictObject({ mcp_servers: servers }),
  z.strictObject({ servers, inputs: z.array(input).length(1).optional() }),
])

test('every configuration names the program or the address, and the variables that it reads', () => {
  const shown = [
    ...fences('json').map((text): unknown => JSON.parse(text)),
    ...fences('toml').map(readToml),
  ]

  expect(shown).toHaveLength(8)
  for (const one of shown)
    expect(configuration.safeParse(one).error, JSON.stringify(one)).toBeUndefined()
})

test('the command for Claude Code names the same address', () => {
  const [command] = fences('sh').filter((text) => text.startsWith('claude '))

  expect(command).toBe('claude mcp add --transport http account https://account.example/mcp\n')
})

test('each variable that is named is one that the program reads', () => {
  const settings = readFileSync(join(root, 'scripts/mcp/settings.ts'), 'utf8')
  const shown = texts.flatMap((text) => text.match(/\bAOA_(?!URL|KEY)[A-Z_]+\b/g) ?? [])

  expect(shown).toContain('AOA_DEVICE_ID')
  for (const variable of new Set(shown)) expect(settings, variable).toContain(`'${variable}'`)
})

test('every setting that a function is deployed with is explained', async () => {
  const [, readme = ''] = texts
  const explained = [...readme.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)].join()

  const functions = await readFunctions()
  const needed = new Set(functions.flatMap((one) => [...Object.keys(one.vars), ...one.secrets]))

  expect([...needed].filter((name) => !explained.includes(`\`${name}\``))).toEqual([])
})
