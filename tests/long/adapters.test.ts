/**
 * The adapters of agent frameworks, played with the frameworks' own mock models: nothing moves without the user, and
 * each payment moves once. The frameworks take 160 MB, so only this long test installs them.
 */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { chooseTools } from '../../scripts/client/tools.ts'
import { adapters, buildAdapter, namedByPackage } from '../../scripts/packages/adapters.ts'
import { buildClient, compiler, root } from '../../scripts/packages/package.ts'
import { resolveAll, settledAsOnChain } from '../support/books.ts'
import { priceAtomic } from '../support/market.ts'
import { textLike } from '../support/matching.ts'
import {
  booksOf,
  openParties,
  openServedMarket,
  payByClient,
  type ServedMarket,
} from '../support/served-market.ts'
import { userAgent } from '../support/world.ts'

const timeoutMilliseconds = 300_000
const names = adapters.map(({ name }) => name)
const directory = mkdtempSync(join(tmpdir(), 'aoa-adapters-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let market: ServedMarket
beforeAll(async () => {
  market = await openServedMarket()
  await install()
}, timeoutMilliseconds)

/** Installs the frameworks, and the packages as a program gets them; the programs import these. */
async function install(): Promise<void> {
  cpSync(join(root, 'tests/peers/adapters'), directory, { recursive: true })
  const options = { cwd: directory, timeout: timeoutMilliseconds }
  await promisify(execFile)('npm', ['ci', '--ignore-scripts'], options)
  const ours = join(directory, 'node_modules/@agent-operating-account')
  await buildClient(join(ours, 'client'))
  for (const adapter of adapters) await buildAdapter(adapter, join(ours, adapter.name))
  // The real types take the place of the declared ones.
  rmSync(join(directory, 'frameworks'), { recursive: true })
  for (const file of readdirSync(directory).filter((one) => one.endsWith('.ts'))) {
    rewrite(join(directory, file))
  }
}

function rewrite(file: string): void {
  const text = readFileSync(file, 'utf8')
    .replaceAll(/'[./]+scripts\/adapters\/([a-z-]+)\.ts'/g, "'@agent-operating-account/$1'")
    .replaceAll(
      /'[./]+(?:scripts)?(\/client\/\w+\.ts)'/g,
      (_, path: string) => `'${namedByPackage(path)}'`,
    )
  writeFileSync(file, text)
}

const course = z.object({
  given: z.array(
    z.object({
      name: z.string(),
      schema: z.object({
        properties: z.record(z.string(), z.unknown()),
        required: z.array(z.string()).optional(),
      }),
    }),
  ),
  asked: z.array(z.string()),
  answers: z.array(z.unknown()),
})

type Script = { answer: 'yes' | 'no' | 'everything'; amount?: string }

/** Plays with one framework; returns its course, the agent, and what its wallet lost. */
async function play(name: string, { answer, amount = '5' }: Script) {
  const { agent, payee, known } = await openParties(market)
  const { baseUrl } = market
  const settings = { baseUrl, apiKey: agent.key, deviceId: userAgent, answer, amount }
  const goal = { recipient: payee.alias, known: known.alias, shop: market.merchant.v2Url }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(directory, `${name}.ts`), JSON.stringify({ ...settings, ...goal })],
    { timeout: timeoutMilliseconds },
  )
  const spent = 100_000_000n - (await market.usdcOf(agent.address))
  return { ...course.parse(JSON.parse(stdout)), agent, payee, known, spent }
}

test.each(names)(
  'with %s the user is asked for each payment, and it moves once',
  async (name) => {
    const { given, asked, answers, agent, payee, known, spent } = await play(name, {
      answer: 'yes',
    })

    expect(asked).toEqual([
      `Pay 5 USDC on eip155:84532 to ${payee.address}.`,
      `Pay 0.01 USDC on eip155:84532 to ${market.merchant.payTo}.`,
    ])
    expect(answers).toMatchObject([
      { reserved_usd: '0' },
      { status: 'awaiting_confirmation', requires_user_confirm: true },
      { status: 'submitted' },
      { requires_user_confirm: true },
      { status: 'settled', response: { status: 200 } },
    ])
    expect(spent).toBe(5_500_000n + priceAtomic)
    expect(await market.usdcOf(payee.address)).toBe(5_000_000n)
    expect(await market.usdcOf(known.address)).toBe(500_000n)
    expect(await booksOf(market, agent)).toEqual(await booksOf(market, await payByClient(market)))
    expect(fieldsOf(given)).toEqual(
      fieldsOf(chooseTools().map((tool) => ({ name: tool.name, schema: tool.inputSchema }))),
    )
  },
  timeoutMilliseconds,
)

/** Returns the fields of each tool, and which of them are required. */
function fieldsOf(given: z.output<typeof course>['given']): unknown {
  return given.map(({ name, schema: { properties, required = [] } }) => ({
    name,
    properties,
    required,
  }))
}

const unmoved = names.flatMap((name) => [
  { name, answer: 'no' as const },
  { name, answer: 'everything' as const },
])

test.each(unmoved)(
  'with $name nothing of what was asked about moves when the answer is $answer',
  async ({ name, answer }) => {
    const { answers, spent, agent } = await play(name, { answer })

    expect(answers).toHaveLength(5)
    expect(spent).toBe(500_000n)
    await resolveAll(market)
    expect(await settledAsOnChain(market, agent)).toHaveLength(1)
  },
  timeoutMilliseconds,
)

test.each(names)(
  'with %s the page is named where the owner has to decide, and the user is not asked',
  async (name) => {
    const { asked, answers, payee } = await play(name, { answer: 'yes', amount: '50' })

    expect(asked).toHaveLength(1)
    expect(answers[1]).toMatchObject({
      status: 'awaiting_confirmation',
      confirmation: { level: 'user_session', url: textLike(/^http/) },
      next: { tool: 'transfer_status' },
    })
    expect(await market.usdcOf(payee.address)).toBe(0n)
  },
  timeoutMilliseconds,
)

test('the adapters, the programs and the examples compile with the types of the frameworks', () => {
  const files = readdirSync(directory).filter((file) => file.endsWith('.ts'))
  for (const name of names) {
    const source = join(directory, `${name}-source.ts`)
    cpSync(join(root, `scripts/adapters/${name}.ts`), source)
    rewrite(source)
    const example = join(directory, `${name}-example.ts`)
    const text = readFileSync(join(root, `scripts/adapters/${name}.md`), 'utf8')
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(text) ?? []
    writeFileSync(example, `${given}\n${code}\n`)
    files.push(`${name}-source.ts`, `${name}-example.ts`)
  }
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    lib: ['es2024', 'dom', 'dom.asynciterable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files }),
  )

  execFileSync(process.execPath, [compiler, '-p', directory], {
    encoding: 'utf8',
    stdio: 'inherit',
  })
})

const given = `import type { LanguageModel } from 'ai'
declare const model: LanguageModel
declare const askMyUser: (terms: string) => Promise<boolean>`
