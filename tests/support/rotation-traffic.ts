/**
 * Traffic in vault, mailboxes and wallets while roots change: logins are stored, changed and used, mail
 * arrives and is read, money is sent. Every answer is compared with what was stored, so a secret from
 * another entry would be noticed too.
 */
import * as z from 'zod'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import { type Totp, totpCode } from '../../shared/vault/entries/totp.ts'
import { serverThat } from './http.ts'
import { messageOf } from './inbound.ts'
import { acquainted } from './ledger.ts'
import { type Random, randomBytes } from './seed.ts'
import { approveDestination } from './vault-rows.ts'
import { type Agent, type Answer, mailDomain, type TestWorld, type Worker } from './world.ts'

const agentsCount = 12
const seed = 'JBSWY3DPEHPK3PXP'
const listedMails = z.array(z.object({ mail_id: z.uuid() }))
const totp: Totp = { seed, algorithm: 'SHA1', digits: 6, periodSeconds: 30 }

/** Expected logins and mails at the end, and how often each action was done. */
export type Truth = {
  entries: { agent: Agent; id: string; username: string; password: string }[]
  mails: { agent: Agent; subject: string }[]
  done: Record<string, number>
}

/** Performs one action on an isolate. Throws if it fails or its answer is wrong. */
export type Act = (isolate: Worker) => Promise<void>

/** Creates accounts, a site that they have logins for, and a payer. */
export async function openTraffic(world: TestWorld, chance: Random): Promise<Truth & { act: Act }> {
  const rate = { perSecond: 10_000, burst: 100_000 }
  const agents = await Promise.all(
    Array.from({ length: agentsCount }, () => world.agent('pay', { rate })),
  )
  const scene = { world, chance, agents, ...(await openSite()), ...(await acquainted(world)) }
  const truth: Truth = { entries: [], mails: [], done: {} }
  const act: Act = async (isolate) => {
    const deed = pick(chance, deck)
    await deed({ ...scene, truth, isolate })
    truth.done[deed.name] = (truth.done[deed.name] ?? 0) + 1
  }
  return { ...truth, act }
}

/** Opens a site that remembers every secret that it was sent. */
async function openSite(): Promise<{ site: string; sent: ReadonlySet<string> }> {
  const sent = new Set<string>()
  const { url } = await serverThat((response, { headers }) => {
    sent.add(headers.authorization ?? '')
    response.writeHead(200)
    response.end()
  })
  return { site: new URL(url).origin, sent }
}

type Scene = {
  world: TestWorld
  chance: Random
  agents: readonly Agent[]
  site: string
  sent: ReadonlySet<string>
  payer: Agent
  payee: Agent
  truth: Truth
  isolate: Worker
}
type Deed = (scene: Scene) => Promise<void>

/** Number of times each action is done in a hundred. */
const shares: readonly (readonly [times: number, deed: Deed])[] = [
  [12, store],
  [13, change],
  [41, askTotp],
  [9, use],
  [15, keepMail],
  [9, readMail],
  [1, pay],
]
const deck = shares.flatMap(([times, deed]) => Array.from({ length: times }, () => deed))

async function store({ world, chance, agents, site, truth, isolate }: Scene): Promise<void> {
  const agent = pick(chance, agents)
  const [username, password] = [unique(), unique()]
  const login = { site, username, password, totp_secret: seed }
  const { body } = ok(await isolate.post(agent, '/vault-store', login))
  const id = String(body['credential_id'])
  const place = { where: 'header', name: 'authorization', prefix: 'Bearer ' } as const
  await approveDestination(world, id, { ...place, method: 'GET' })
  truth.entries.push({ agent, id, username, password })
}

async function change(scene: Scene): Promise<void> {
  await withEntry(scene, async (entry) => {
    const { username } = entry
    const password = unique()
    const login = { site: scene.site, username, password }
    ok(await scene.isolate.post(entry.agent, '/vault-store', login))
    entry.password = password
  })
}

async function askTotp(scene: Scene): Promise<void> {
  await withEntry(scene, async ({ agent, id }) => {
    const { body } = ok(await scene.isolate.post(agent, '/vault-totp', { credential_id: id }))
    same(body['code'], totpCode(totp, scene.world.world.now().getTime()).code)
  })
}

async function use(scene: Scene): Promise<void> {
  await withEntry(scene, async ({ agent, id, password }) => {
    const inject = [{ where: 'bearer', secret: 'password' }]
    const request = { credential_id: id, method: 'GET', path: '/', inject }
    ok(await scene.isolate.post(agent, '/vault-use', request))
    same(scene.sent.has(`Bearer ${password}`), true)
  })
}

async function keepMail({ chance, agents, truth, isolate }: Scene): Promise<void> {
  const agent = pick(chance, agents)
  const subject = unique()
  const [to, from] = [`${agent.alias}@${mailDomain}`, `ada@${subject}.example`]
  const text = messageOf({ to, from, subject, text: `Your code is 481516.\r\n${subject}` })
  const raw = new TextEncoder().encode(text)
  same(await receiveMail(isolate.world, { envelopeFrom: from, envelopeTo: to, raw }), 'kept')
  truth.mails.push({ agent, subject })
}

async function readMail({ chance, truth, isolate }: Scene): Promise<void> {
  const kept = truth.mails.length > 0 ? pick(chance, truth.mails) : undefined
  if (!kept) return
  const { agent, subject } = kept
  const { body } = ok(await isolate.get(agent, `/mail-list?from=ada@${subject}.example`))
  const [listed] = listedMails.parse(body['mails'])
  const read = ok(await isolate.get(agent, `/mail-read?mail_id=${listed?.mail_id ?? ''}`))
  same(JSON.stringify(read.body['untrusted']).includes(subject), true)
}

async function pay({ payer, payee, isolate }: Scene): Promise<void> {
  const transfer = { recipient: payee.address, chain: 'base-sepolia', token: 'USDC' }
  ok(await isolate.post(payer, '/wallet-custodial-transfer', { ...transfer, amount: '0.01' }))
}

/** Works on an entry that no one else uses meanwhile, so that its current secret is known. */
async function withEntry(
  { chance, truth: { entries } }: Scene,
  work: (entry: Truth['entries'][number]) => Promise<void>,
): Promise<void> {
  const [entry] = entries.splice(chance.between(0, Math.max(0, entries.length - 1)), 1)
  if (!entry) return
  await work(entry)
  entries.push(entry)
}

function pick<Item>(chance: Random, items: readonly Item[]): Item {
  const item = items[chance.between(0, items.length - 1)]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

function ok(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

function same(found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${JSON.stringify(found)} is not what was put in`)
}

function unique(): string {
  return `u${randomBytes(12).toString('hex')}`
}
