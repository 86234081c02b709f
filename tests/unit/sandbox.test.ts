/** The sandbox can take test money only, whatever a deployment is connected to. */
import { expect, test } from 'vitest'
import { sandboxFunction } from '../../functions/sandbox/serve.ts'
import { knownChains } from '../../shared/chains/registry.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import { textWith } from '../support/matching.ts'

const payTo = `0x${'7'.repeat(40)}`
const paths = ['/sandbox', '/sandbox/v1/report', '/sandbox/v2/report', '/sandbox/mpp/report']
const tests = knownChains.filter(({ testnet }) => testnet)
const live = knownChains.filter(({ testnet }) => !testnet)

/** Answers a request at each path, with a facilitator that would settle on every network. */
async function answersOf(networks: readonly string[], differs: Record<string, string> = {}) {
  const asked: string[] = []
  const kinds = knownChains.map(({ caip2: network }) => ({
    x402Version: 2,
    scheme: 'exact',
    network,
  }))
  const bindings = {
    BASE_URL: 'https://account.example',
    WEB_URL: 'https://account.example/web',
    MAIL_DOMAIN: 'agents.example',
    SUPABASE_URL: 'https://project.supabase.co',
    SANDBOX_PAY_TO: payTo,
    SANDBOX_FACILITATOR_URL: 'https://facilitator.example',
    CHAIN_RPC_URLS: JSON.stringify(
      Object.fromEntries(networks.map((id) => [id, ['https://rpc.example']])),
    ),
    ...differs,
  }
  const world: World = {
    ...worldFrom(bindings),
    fetch: (input) => {
      asked.push(new Request(input).url)
      return Promise.resolve(Response.json({ kinds }))
    },
  }
  const { fetch } = sandboxFunction(() => world)
  const answers = await Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(new Request(`https://account.example${path}`))
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    }),
  )
  return { answers, asked }
}

const statuses = ({ answers }: Awaited<ReturnType<typeof answersOf>>) =>
  answers.map(({ status }) => status)

test.each(live)(
  'connected to $title, alone or beside test networks, it does not exist',
  async (one) => {
    const all = [...tests.map(({ caip2 }) => caip2), one.caip2]

    for (const found of [await answersOf([one.caip2]), await answersOf(all)]) {
      expect(statuses(found)).toEqual([404, 404, 404, 404])
      expect(found.answers.map(({ text }) => text)).toEqual(paths.map(() => textWith('real money')))
      expect(found.asked).toEqual([])
    }
  },
)

test('a network that nobody knows could be one of real money', async () => {
  expect(statuses(await answersOf(['eip155:84532', 'eip155:56']))).toEqual([404, 404, 404, 404])
})

test('it offers test networks alone, in each protocol', async () => {
  const { answers } = await answersOf(tests.map(({ caip2 }) => caip2))

  const [, v1, v2, mpp] = answers
  const required = Buffer.from(v2?.headers.get('payment-required') ?? '', 'base64').toString()
  const charges = mpp?.headers.get('www-authenticate')?.match(/Payment id=/g)
  expect(answers.map(({ status }) => status)).toEqual([200, 402, 402, 402])
  for (const { name, caip2 } of tests) {
    expect(v1?.text).toContain(`"network": "${name}"`)
    expect(required).toContain(`"network":"${caip2}"`)
  }
  expect(charges).toHaveLength(tests.length)
  for (const { name, caip2 } of live) {
    expect(v1?.text).not.toContain(`"network": "${name}"`)
    expect(required).not.toContain(`"${caip2}"`)
  }
})

test.each([
  ['an empty address', ['eip155:84532'], { SANDBOX_PAY_TO: '' }, 'SANDBOX_PAY_TO is empty'],
  ['no network', [], {}, 'connected to no test network'],
])('with %s it does not exist, and a sentence says why', async (_, networks, differs, sentence) => {
  const found = await answersOf(networks, differs)

  expect(statuses(found)).toEqual([404, 404, 404, 404])
  expect(found.answers[0]?.text).toContain(sentence)
})
