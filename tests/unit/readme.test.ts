/** The READMEs show calls, settings and configurations as they are; scripts/check-docs.ts checks their pointers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { walletCustodialTransfer } from '../../functions/wallet-custodial-transfer/contract.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { root } from '../../scripts/packages/package.ts'
import { filesIn, sourcesIn } from '../support/tidy/files.ts'

const program = '/path/to/dist/mcp/agent-operating-account-mcp.js'
const readmes = filesIn().filter(({ path }) => path.endsWith('README.md'))
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const connecting = textOf('scripts/mcp/README.md')

function fences(text: string, language: string): string[] {
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')
  return [...text.matchAll(fence)].map(([, inside = '']) => inside)
}

test('no README is longer than 200 lines', () => {
  expect(readmes.length).toBeGreaterThan(10)
  for (const { path, text } of readmes) {
    expect(text.split('\n').length, path).toBeLessThanOrEqual(201)
  }
})

test('every alarm that the code writes has a line that says what to do', () => {
  const lines = sourcesIn('shared').flatMap(({ text }) =>
    text.split('\n').filter((line) => /alarm/i.test(line)),
  )
  const written = lines.flatMap((line) =>
    [...line.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map(([, name = '']) => name),
  )
  const explained = textOf('scripts/README.md')

  expect(new Set(written).size).toBeGreaterThan(10)
  for (const name of written) expect(explained).toContain(`\`${name}\``)
})

test('no command runs a package that nobody has published', () => {
  const printed = filesIn().filter(({ text }) =>
    /npx[^\n]{0,40}@agent-operating-account\//.test(text),
  )

  expect(printed.map(({ path }) => path)).toEqual([])
})

test('every operation is listed with its method, path and scope', () => {
  const rows = [...textOf('functions/README.md').matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)]
  const listed = rows.map(([, id, where = '', scope = '']) => {
    const [, method, folder] = /^(GET|POST) `\/([a-z0-9-]+)/.exec(where) ?? []
    return [id, method, folder, scope.split(',')[0]].join(' ')
  })

  const declared = contracts.map(({ id, method, folder, access }) =>
    [id, method, folder, access].join(' '),
  )
  expect(listed.toSorted()).toEqual(declared.toSorted())
})

test('the answer that the README shows has the form of its contract', () => {
  const [answer = ''] = fences(textOf('README.md'), 'json')
  const { shape } = walletCustodialTransfer.response
  const shown = z.strictObject({
    transfer_id: shape.transfer_id,
    status: shape.status,
    requires_user_confirm: shape.requires_user_confirm,
    summary: shape.summary,
    reasons: shape.reasons,
    would_pass: shape.would_pass,
    chain: shape.chain,
    token: shape.token,
    amount: shape.amount,
    amount_atomic: shape.amount_atomic,
  })

  expect(shown.safeParse(JSON.parse(answer)).error).toBeUndefined()
})

/** Reads tables of strings and lists, whose syntax is the same in TOML and JSON. */
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
  command: z.literal('node'),
  args: z.tuple([z.literal(program)]),
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
    ...fences(connecting, 'json').map((text): unknown => JSON.parse(text)),
    ...fences(connecting, 'toml').map(readToml),
  ]

  expect(shown).toHaveLength(7)
  for (const one of shown)
    expect(configuration.safeParse(one).error, JSON.stringify(one)).toBeUndefined()
})

test('the command for Claude Code names the same address', () => {
  const [command] = fences(connecting, 'sh').filter((text) => text.startsWith('claude '))

  expect(command).toBe('claude mcp add --transport http account https://account.example/mcp\n')
})

test('each variable that is named is one that the program reads', () => {
  const settings = readFileSync(join(root, 'scripts/mcp/settings.ts'), 'utf8')
  const shown = connecting.match(/\bAOA_(?!URL|KEY)[A-Z_]+\b/g) ?? []

  expect(shown).toContain('AOA_DEVICE_ID')
  for (const variable of new Set(shown)) expect(settings, variable).toContain(`'${variable}'`)
})

test('every setting that a function is deployed with is explained', async () => {
  const explained = [
    ...textOf('scripts/README.md').matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm),
  ].join()

  const functions = await readFunctions()
  const needed = new Set(functions.flatMap((one) => [...Object.keys(one.vars), ...one.secrets]))

  expect([...needed].filter((name) => !explained.includes(`\`${name}\``))).toEqual([])
})
