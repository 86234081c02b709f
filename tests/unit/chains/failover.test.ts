import { expect, test } from 'vitest'
import { broadcast } from '../../../shared/chains/evm/rpc/broadcast.ts'
import { type ChainWorld, rpcFor } from '../../../shared/chains/evm/rpc/rpc.ts'
import { known, nonceOf, worldOn } from '../../support/chain-world.ts'
import { openTimeline } from '../../support/deadlines.ts'

const { chain } = known('eip155:8453')
const call = { method: 'eth_call', params: [] }

type Node = (wait: () => Promise<never>) => Response | Promise<Response>

/** Returns a network of these nodes, a clock to move, and the list of the hosts that were asked. */
function network(nodes: Record<string, Node>) {
  const asked: string[] = []
  const timeline = openTimeline()
  const fetch: ChainWorld['fetch'] = async (input, init) => {
    const { hostname } = new URL(new Request(input).url)
    asked.push(hostname)
    return (nodes[hostname] ?? down)(() => timeline.waitFor(new Request(input, init).signal))
  }
  const urls = Object.keys(nodes).map((name) => `http://${name}`)
  const world = worldOn({ [chain.caip2]: urls }, fetch)
  let nowMilliseconds = 1_000_000
  world.now = () => new Date(nowMilliseconds)
  world.deadline = timeline.deadline
  return {
    world,
    timeline,
    rpc: rpcFor(world, chain),
    wait: (seconds: number) => {
      nowMilliseconds += seconds * 1_000
    },
    /** Returns the hosts that were asked since the last call. */
    asked: () => asked.splice(0),
  }
}

const json = (body: unknown, status = 200, headers = {}) => Response.json(body, { status, headers })
const says =
  (...results: unknown[]): Node =>
  () =>
    json(results.map((result, id) => ({ id, result })))
const refuses =
  (error: { code: number; message: string }, status = 200): Node =>
  () =>
    json({ id: 0, error }, status)
const down: Node = () => Promise.reject(new TypeError('connection refused'))
const silent: Node = (wait) => wait()

const outages: Record<string, Node> = {
  'no connection': down,
  'a gateway without backends': refuses({ code: -32000, message: 'no backend' }, 503),
  'a bad gateway': () => new Response('<html>', { status: 502 }),
  'too many requests': () => new Response('slow down', { status: 429 }),
  'a refused key': refuses({ code: -32600, message: 'must be authenticated' }, 401),
  'a page': () => new Response('<html>hello</html>'),
  'limit exceeded': refuses({ code: -32005, message: 'limit exceeded' }),
  'a limit by its words': refuses({ code: -32000, message: 'Too Many Requests, upgrade' }),
  'a limit by its code': refuses({ code: 429, message: 'compute units per second' }),
}

test.each(Object.entries(outages))(
  '%s: the next endpoint answers, and is asked first until a rest is over',
  async (_, outage) => {
    const { rpc, asked, wait } = network({ first: outage, second: says('0x1') })

    const answers = [await rpc.request('m', []), await rpc.request('m', [])]
    const during = asked()
    wait(1)
    await rpc.request('m', [])

    expect(answers).toEqual([{ result: '0x1' }, { result: '0x1' }])
    expect(during).toEqual(['first', 'second', 'second'])
    expect(asked()).toEqual(['first', 'second'])
  },
)

const refusals = [
  { code: -32000, message: 'nonce too low' },
  { code: -32000, message: 'insufficient funds for gas * price + value' },
  { code: 3, message: 'execution reverted: rate limit exceeded' },
  { code: -32601, message: 'the method does not exist' },
  { code: -32603, message: 'internal error' },
]

test('an error about a call is an answer: it is passed on and sets nobody aside', async () => {
  for (const error of refusals) {
    for (const status of [200, 400, 500]) {
      const { rpc, asked, world } = network({ first: refuses(error, status), second: says('0x1') })

      expect(await rpc.request('m', [])).toEqual({ failure: { kind: 'rpc', ...error } })
      await broadcast(world, chain, '0x02')
      await rpc.request('m', [])

      expect(asked()).toEqual(['first', 'first', 'second', 'first'])
    }
  }
})

test('an endpoint is left in peace as long as it asks for, and for a minute at most', async () => {
  for (const [asking, resting] of [
    ['30', 30],
    ['86400', 60],
  ] as const) {
    const busy: Node = () => json('busy', 429, { 'retry-after': asking })
    const { rpc, asked, wait } = network({ first: busy, second: says('0x1') })
    await rpc.request('m', [])
    wait(resting - 1)
    await rpc.request('m', [])
    wait(1)
    await rpc.request('m', [])

    expect(asked()).toEqual(['first', 'second', 'second', 'first', 'second'])
  }
})

test('with every endpoint set aside each is still asked, and one that answers is back', async () => {
  const nodes = { first: down, second: down }
  const { rpc, asked } = network(nodes)
  const lost = await rpc.request('m', [])
  nodes.second = says('0x1')
  const found = await rpc.request('m', [])
  await rpc.request('m', [])

  expect(lost).toMatchObject({ failure: { kind: 'unreachable' } })
  expect(found).toEqual({ result: '0x1' })
  expect(asked()).toEqual(['first', 'second', 'first', 'second', 'second'])
})

test('the answers of a batch all come from one endpoint', async () => {
  const half: Node = () =>
    json([
      { id: 0, result: 'first' },
      { id: 1, error: { code: -32005, message: 'limit exceeded' } },
    ])
  const { rpc } = network({ first: half, second: says('second', 'second') })
  const alone = network({ first: half, second: down })

  expect(await rpc.batch([call, call])).toEqual([{ result: 'second' }, { result: 'second' }])
  expect(await alone.rpc.batch([call, call])).toMatchObject([{ result: 'first' }, { failure: {} }])
})

test('silent endpoints leave the last one time, and take no more than the call has', async () => {
  const { rpc } = network({ first: silent, second: silent, third: says('0x1') })
  const none = network(Object.fromEntries('abcdef'.split('').map((name) => [name, silent])))
  const limits = { timeoutMilliseconds: 400 }

  const answer = await rpc.request('m', [], limits)
  const lost = await none.rpc.request('m', [], limits)

  expect(answer).toEqual({ result: '0x1' })
  expect(lost).toMatchObject({ failure: { kind: 'unreachable' } })
  expect(none.asked()).toHaveLength(6)
  expect(none.timeline.passedMilliseconds()).toBe(400)
})

test('where one answer is not enough the next endpoint is asked, and the best answer stands', async () => {
  const limits = { isEnough: ([answer]: readonly unknown[]) => !isNull(answer) }
  const isNull = (answer: unknown) => JSON.stringify(answer) === '{"result":null}'
  const knowing = network({ first: says(null), second: says('0x1') })
  const ignorant = network({ first: says(null), second: says(null) })
  const broken = network({ first: says(null), second: down })

  expect(await knowing.rpc.request('m', [], limits)).toEqual({ result: '0x1' })
  for (const { rpc } of [ignorant, broken]) {
    expect(await rpc.request('m', [], limits)).toEqual({ result: null })
  }
  await knowing.rpc.request('m', [])
  expect(knowing.asked()).toEqual(['first', 'second', 'first'])
})

test('signed bytes go to two endpoints at once, and the first that takes them is the answer', async () => {
  const hash = nonceOf('aa')
  const never: Node = () => new Promise(() => {})
  const { world, asked } = network({ first: never, second: says(hash), third: says(hash) })

  expect(await broadcast(world, chain, '0x02')).toEqual({ outcome: 'accepted' })
  expect(asked()).toEqual(['first', 'second'])
})
