/**
 * Measures what scrubbing costs a vault_use request whose answer has 256 KB. The other arm is the same
 * product with a scrubber that only decodes; the two take turns request by request.
 */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import * as z from 'zod'
import { bundling } from '../build/functions.ts'
import { listen } from '../local/process/listen.ts'
import { choosePorts } from '../local/process/ports.ts'
import { mulberry32 } from '../local/random.ts'
import { startWorkers } from '../local/workers.ts'
import { type Figure, median, quantile } from './report.ts'
import { type BenchWorld, bindingsOf } from './world.ts'

const bodyBytes = 256 * 1024
const warmUps = 20
const requestsOfRound = 10

const next = mulberry32(20_261_122)

/** Answers as real sites give them, by path. */
const answers: Readonly<Record<string, string>> = {
  html: filled(readFileSync('functions/web/style.css', 'utf8').replaceAll(/^(.*)$/gm, '<p>$1</p>')),
  json: filled(JSON.stringify(Array.from({ length: 500 }, (_, at) => order(at)))),
  prose: filled(readFileSync('README.md', 'utf8')),
  base64: filled(
    Buffer.from(Array.from({ length: 200_000 }, () => next() % 256)).toString('base64'),
  ),
}

/** Measures one ratio for each kind of answer. */
export async function benchVaultUse(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const site = await listen((request) => {
    const kind = new URL(request.url).pathname.slice(1)
    return new Response(answers[kind], { headers: { 'content-type': 'text/plain' } })
  })
  const plain = await startPlain(world)
  try {
    const use = await user(world, site.url)
    const figures: Figure[] = []
    for (const kind of Object.keys(answers)) {
      figures.push(
        await compared(kind, rounds, {
          ours: () => use(world.url, kind),
          plain: () => use(plain.url, kind),
        }),
      )
    }
    return figures
  } finally {
    await plain.stop()
    await site.close()
  }
}

type Arms = { ours: () => Promise<void>; plain: () => Promise<void> }

async function compared(kind: string, rounds: number, arms: Arms): Promise<Figure> {
  const timed = async (run: () => Promise<void>) => {
    const began = performance.now()
    await run()
    return performance.now() - began
  }
  const [ours, plain]: [number[], number[]] = [[], []]
  for (let done = -warmUps; done < rounds * requestsOfRound; done += 1) {
    const taken = [await timed(arms.ours), await timed(arms.plain)] as const
    if (done < 0) continue
    ours.push(taken[0])
    plain.push(taken[1])
  }
  return {
    name: `vault_use with 256 KB of ${kind}, over the same without scrubbing`,
    value: median(ours) / median(plain),
    target: 1.1,
    detail: {
      'ours ms': median(ours),
      'without ms': median(plain),
      // Ratio of the requests that nothing else on the machine disturbed.
      'ratio at p10': quantile(ours, 0.1) / quantile(plain, 0.1),
    },
  }
}

/** Starts the same functions over the same database, except for the scrubber of the vault. */
async function startPlain(world: BenchWorld) {
  const modules = join(world.directory, 'plain')
  cpSync(world.modules, modules, { recursive: true })
  await build({
    ...bundling,
    entryPoints: { vault: 'functions/vault/index.ts' },
    outdir: modules,
    allowOverwrite: true,
    plugins: [
      {
        name: 'plain-answer',
        setup(building) {
          const path = join(bundling.absWorkingDir, 'scripts/bench/plain-answer.ts')
          building.onResolve({ filter: /\/scrub\.ts$/ }, () => ({ path }))
        },
      },
    ],
  })
  const { functions: port } = await choosePorts(0)
  const bindings = bindingsOf(world, world.chain.rpcUrl)
  return startWorkers({ port, modules, bindings, log: (line) => console.error(line) })
}

const stored = z.object({ credential_id: z.uuid() })
const used = z.object({ status: z.literal(200), removed: z.literal(0), body: z.string() })

/** Opens an agent with one login. Returns how it requests an answer of a kind from one of the arms. */
async function user(world: BenchWorld, site: string) {
  const { key } = await world.agent(world.sql)
  const post = async (url: string, path: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const login = { site, password: 'w7#Kd!pQ2z-Vm9rT' }
  const { credential_id } = stored.parse(await post(world.url, '/vault-store', login))
  const inject = [{ where: 'bearer', secret: 'password' }]
  return async (url: string, kind: string) => {
    const request = { credential_id, method: 'POST', path: `/${kind}`, inject }
    const { body } = used.parse(await post(url, '/vault-use', request))
    if (body.length < bodyBytes / 2) throw new Error('the answer is too short')
  }
}

function order(at: number) {
  const [id, cents] = [next() % 1_000_000, next() % 100_000]
  const email = `person${at}@example.com`
  return {
    id,
    at: new Date(id * 1e6).toISOString(),
    email,
    total: cents / 100,
    paid: cents % 2 > 0,
  }
}

/** Fills the size of a body with whole characters. */
function filled(text: string): string {
  const bytes = new TextEncoder().encode(text.repeat(Math.ceil(bodyBytes / text.length)))
  return new TextDecoder().decode(bytes.subarray(0, bodyBytes), { stream: true })
}
