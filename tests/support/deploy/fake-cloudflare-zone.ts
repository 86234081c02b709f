/**
 * A fake of the requests to Cloudflare's API by which a deployment looks at an account and a zone, and of the rule
 * for mail. As there, an API token has rights, and a missing one is told before the thing is looked for.
 */
import * as z from 'zod'
import type { Account } from '../cloudflare/account.ts'
import type { Cloudflare } from '../cloudflare/cloudflare.ts'

const allRights = [
  'Zone: Read',
  'DNS: Read',
  'Workers Routes: Edit',
  'Email Routing Rules: Edit',
  'Workers Scripts: Edit',
  'Billing: Read',
]

const ruleSchema = z.strictObject({
  name: z.string().optional(),
  enabled: z.boolean(),
  matchers: z.tuple([z.strictObject({ type: z.literal('all') })]),
  actions: z
    .array(
      z.strictObject({
        type: z.enum(['drop', 'forward', 'worker']),
        value: z.array(z.string()).length(1).optional(),
      }),
    )
    .length(1),
})
type Rule = z.output<typeof ruleSchema>

export type FakeRecord = { type: string; name: string; content: string; proxied: boolean }

export type FakeCloudflareZone = {
  /** Address of the API. */
  url: string
  token: string
  /** True for a token of the account in place of one of a user. */
  isOfAccount: boolean
  /** Absent for a token without an end. */
  expiresOn?: string
  accountId: string
  /** Account with its workers and routes. */
  account: Account
  zone: { id: string; name: string; accountId: string }
  rights: Set<string>
  plans: { id: string; is_contract: boolean }[]
  records: FakeRecord[]
  /** The catch-all rule of Email Routing. */
  catchAll: Rule
  /** Returns undefined for a request of another kind, such as an upload. */
  answer: (request: Request) => Promise<Response | undefined>
}

/** Puts the account on the paid plan, and gives its zone the records that a deployment needs. */
export function openFakeCloudflareZone(cloudflare: Cloudflare, host: string, mail: string) {
  const { url, token, account } = cloudflare
  const fake: FakeCloudflareZone = {
    url,
    token,
    isOfAccount: false,
    accountId: account.id,
    account,
    zone: { id: account.zoneId, name: account.zone, accountId: account.id },
    rights: new Set(allRights),
    plans: [{ id: 'workers_paid', is_contract: false }],
    records: [
      { type: 'AAAA', name: host, content: '100::', proxied: true },
      { type: 'MX', name: mail, content: 'route1.mx.cloudflare.net', proxied: false },
      { type: 'MX', name: mail, content: 'route2.mx.cloudflare.net', proxied: false },
    ],
    catchAll: { enabled: false, matchers: [{ type: 'all' }], actions: [{ type: 'drop' }] },
    answer: (request) => answerRequest(fake, request),
  }
  return fake
}

const found = (result: unknown) =>
  Response.json({ success: true, errors: [], messages: [], result })
const refuse = (status: number, code: number, message: string) =>
  Response.json(
    { success: false, errors: [{ code, message }], messages: [], result: null },
    { status },
  )
const unauthorized = () => refuse(403, 10_000, 'Authentication error')

type Answer = (fake: FakeCloudflareZone, url: URL, body: unknown) => Response | undefined

/** Method and path -> right and answer. The account itself deletes what exists. */
const routes: readonly [RegExp, string | undefined, Answer][] = [
  [/^GET \/user\/tokens\/verify$/, undefined, (fake) => verify(fake, !fake.isOfAccount)],
  [
    /^GET \/accounts\/(?<account>\w+)\/tokens\/verify$/,
    undefined,
    (fake) => verify(fake, fake.isOfAccount),
  ],
  [/^GET \/accounts\/(?<account>\w+)\/subscriptions$/, 'Billing: Read', subscriptions],
  [/^GET \/zones$/, undefined, zones],
  [/^GET \/zones\/(?<zone>\w+)\/dns_records$/, 'DNS: Read', dnsRecords],
  [
    /^DELETE \/zones\/(?<zone>\w+)\/workers\/routes\/[0-9a-f]{32}$/,
    'Workers Routes: Edit',
    ({ account }, { pathname }) =>
      account.routes.some(({ id }) => pathname.endsWith(`/${id}`))
        ? undefined
        : refuse(404, 10_020, 'workers.api.error.route_not_found'),
  ],
  [
    /^GET \/zones\/(?<zone>\w+)\/email\/routing\/rules\/catch_all$/,
    'Email Routing Rules: Edit',
    ({ catchAll }) => found(catchAll),
  ],
  [
    /^PUT \/zones\/(?<zone>\w+)\/email\/routing\/rules\/catch_all$/,
    'Email Routing Rules: Edit',
    setRule,
  ],
  [
    /^DELETE \/zones\/(?<zone>\w+)\/email\/routing\/rules\/[0-9a-f]{32}$/,
    'Email Routing Rules: Edit',
    () => refuse(404, 2_004, 'rule not found'),
  ],
  [
    /^DELETE \/accounts\/(?<account>\w+)\/workers\/scripts\/[0-9a-f]{32}$/,
    'Workers Scripts: Edit',
    () => refuse(404, 10_007, 'This Worker does not exist on your account.'),
  ],
]

async function answerRequest(
  fake: FakeCloudflareZone,
  request: Request,
): Promise<Response | undefined> {
  const url = new URL(request.url)
  const line = `${request.method} ${url.pathname.replace('/client/v4', '')}`
  for (const [pattern, right, answer] of routes) {
    const match = pattern.exec(line)
    if (!match) continue
    const isVerifying = line.endsWith('/tokens/verify')
    if (request.headers.get('authorization') !== `Bearer ${fake.token}`) {
      return isVerifying ? refuse(401, 1_000, 'Invalid API Token') : unauthorized()
    }
    const { account = fake.accountId, zone = fake.zone.id } = match.groups ?? {}
    if (account !== fake.accountId || zone !== fake.zone.id) return unauthorized()
    if (right !== undefined && !fake.rights.has(right)) return unauthorized()
    return answer(fake, url, request.method === 'PUT' ? await request.json() : undefined)
  }
  return undefined
}

function verify({ expiresOn }: FakeCloudflareZone, isKind: boolean): Response {
  return isKind
    ? found({ id: 'f'.repeat(32), status: 'active', ...(expiresOn && { expires_on: expiresOn }) })
    : refuse(401, 1_000, 'Invalid API Token')
}

function subscriptions({ plans }: FakeCloudflareZone): Response {
  return found(plans.map((rate_plan) => ({ rate_plan, state: 'Paid' })))
}

/** Zones that the token may not read are not listed. */
function zones({ zone, rights }: FakeCloudflareZone, { searchParams }: URL): Response {
  const isSeen = rights.has('Zone: Read') && searchParams.get('name') === zone.name
  const { id, name, accountId } = zone
  return found(isSeen ? [{ id, name, status: 'active', account: { id: accountId } }] : [])
}

function dnsRecords({ records }: FakeCloudflareZone, { searchParams }: URL): Response {
  const allowed = ['name', 'type', 'page', 'per_page']
  if ([...searchParams.keys()].some((key) => !allowed.includes(key))) {
    return refuse(400, 9_000, 'unknown parameter')
  }
  return found(records.filter(({ name }) => name === searchParams.get('name')))
}

function setRule(fake: FakeCloudflareZone, _url: URL, body: unknown): Response {
  const read = ruleSchema.safeParse(body)
  if (!read.success) return refuse(400, 2_020, 'Invalid rule')
  fake.catchAll = read.data
  return found(read.data)
}
