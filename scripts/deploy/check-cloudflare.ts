/**
 * Looks at an account and a zone of Cloudflare: the rights of the token, the plan of Workers, and the records of
 * the two hosts. A right to write is seen by deleting something with a random name, which cannot exist: without the
 * right, the API refuses before it looks for the thing (codes 9109 and 10000).
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { type Finding, unknown, warnOfEnd, well, wrong } from './finding.ts'
import { callPlatform, type PlatformAccess, type PlatformAnswer } from './platform-api.ts'
import type { DeploySettings } from './settings.ts'
import { findZone, setsMailRule, type Zone } from './zone.ts'

type Cloudflare = PlatformAccess & { accountId: string }

const isRefused = ({ status }: PlatformAnswer) => status === 401 || status === 403

/** Returns the findings about the account, the zone, and the records of a deployment. */
export async function checkCloudflare(
  access: PlatformAccess,
  settings: DeploySettings,
  now: Date,
): Promise<Finding[]> {
  const cloudflare = { ...access, accountId: settings.accountId }
  const token = await checkToken(cloudflare, now)
  if (token.some(({ state }) => state === 'wrong')) return token
  const zone = await checkZone(cloudflare, settings)
  const ofAccount = [await checkScripts(cloudflare), await checkPlan(cloudflare)]
  if ('state' in zone) return [...token, zone, ...ofAccount]
  const ofZone = await Promise.all([
    checkRight(cloudflare, `/zones/${zone.id}/workers/routes/${randomId()}`, {
      right: 'Workers Routes: Edit',
      of: `the zone ${settings.zone}`,
    }),
    ...(setsMailRule(settings)
      ? [
          checkRight(cloudflare, `/zones/${zone.id}/email/routing/rules/${randomId()}`, {
            right: 'Email Routing Rules: Edit',
            of: `the zone ${settings.zone}`,
          }),
        ]
      : []),
    checkRecords(cloudflare, zone.id, settings),
  ])
  return [...token, well(`zone ${settings.zone} is in the account`), ...ofAccount, ...ofZone.flat()]
}

/** A token belongs to a user, or to the account itself, and each kind has its own address. */
async function checkToken(access: Cloudflare, now: Date): Promise<Finding[]> {
  const schema = z.object({
    result: z.object({ status: z.string(), expires_on: z.coerce.date().optional() }),
  })
  for (const path of ['/user/tokens/verify', `/accounts/${access.accountId}/tokens/verify`]) {
    const read = schema.safeParse((await callPlatform(access, 'GET', path)).body)
    if (read.data?.result.status !== 'active') continue
    const { expires_on: end } = read.data.result
    return [
      well('CLOUDFLARE_API_TOKEN is active'),
      ...(end ? warnOfEnd('CLOUDFLARE_API_TOKEN', end, now) : []),
    ]
  }
  return [
    wrong(
      'CLOUDFLARE_API_TOKEN is not an active token: make one in the dashboard (My Profile, API Tokens)',
    ),
  ]
}

async function checkZone(access: Cloudflare, { zone }: DeploySettings): Promise<Zone | Finding> {
  const found = await findZone(access, zone)
  if (!found) {
    return wrong(
      `the token sees no zone ${zone}: give it the right Zone: Read for that zone, or correct zone`,
    )
  }
  if (found.account.id === access.accountId) return found
  return wrong(`the zone ${zone} is in the account ${found.account.id}: correct account_id`)
}

function checkScripts(access: Cloudflare): Promise<Finding> {
  const { accountId } = access
  return checkRight(access, `/accounts/${accountId}/workers/scripts/${randomId()}`, {
    right: 'Workers Scripts: Edit',
    of: `the account ${accountId}`,
  })
}

/** Something that cannot exist: the id of nothing, and the name of no worker. */
function randomId(): string {
  return randomBytes(16).toString('hex')
}

async function checkRight(
  access: Cloudflare,
  path: string,
  { right, of }: { right: string; of: string },
): Promise<Finding> {
  const answer = await callPlatform(access, 'DELETE', path)
  return isRefused(answer)
    ? wrong(`the token has not the right ${right} for ${of}: add it in the dashboard`)
    : well(`the token has the right ${right}`)
}

const plansSchema = z.object({
  result: z.array(
    z.object({ rate_plan: z.object({ id: z.string(), is_contract: z.boolean().optional() }) }),
  ),
})
/** The plan itself, and that of a reseller. A contract has terms of its own. */
const paidPlans = /^(workers_paid|partners_workers_ss)$/i

/** The free plan has 10 ms of CPU and 50 subrequests for each request; one password takes 250 ms. */
async function checkPlan(access: Cloudflare): Promise<Finding> {
  const answer = await callPlatform(access, 'GET', `/accounts/${access.accountId}/subscriptions`)
  const read = plansSchema.safeParse(answer.body)
  if (!read.success) {
    return unknown(
      'the plan of Workers is not shown to this token (Billing: Read): it has to be the paid one, because the free one ends a request after 10 ms of CPU',
    )
  }
  const plans = read.data.result.map(({ rate_plan }) => rate_plan)
  return plans.some(({ id, is_contract }) => is_contract === true || paidPlans.test(id))
    ? well('Workers are on the paid plan')
    : wrong(
        'Workers are on the free plan, which ends a request after 10 ms of CPU: subscribe to Workers Paid in the dashboard',
      )
}

const recordsSchema = z.object({
  result: z.array(
    z.object({
      type: z.string(),
      name: z.string(),
      content: z.string(),
      proxied: z.boolean().optional(),
    }),
  ),
})
type DnsRecord = z.output<typeof recordsSchema>['result'][number]

async function checkRecords(
  access: Cloudflare,
  zoneId: string,
  { baseUrl, mailDomain, zone }: DeploySettings,
): Promise<Finding[]> {
  const { hostname } = new URL(baseUrl)
  const atHost = await recordsOf(access, zoneId, hostname)
  const atMail = await recordsOf(access, zoneId, mailDomain)
  if (!atHost || !atMail) {
    return [
      wrong(`the token has not the right DNS: Read for the zone ${zone}: add it in the dashboard`),
    ]
  }
  return [proxied(atHost, hostname), mailed(atMail, mailDomain)]
}

async function recordsOf(
  access: Cloudflare,
  zoneId: string,
  name: string,
): Promise<DnsRecord[] | undefined> {
  const path = `/zones/${zoneId}/dns_records?name=${name}&per_page=100`
  const read = recordsSchema.safeParse((await callPlatform(access, 'GET', path)).body)
  return read.data?.result.filter((one) => one.name === name)
}

/** A route takes requests to a host only if the host has a record and Cloudflare is in front of it. */
function proxied(records: readonly DnsRecord[], host: string): Finding {
  const addresses = records.filter(({ type }) => ['A', 'AAAA', 'CNAME'].includes(type))
  if (addresses.some((one) => one.proxied === true)) return well(`${host} is proxied by Cloudflare`)
  return wrong(
    addresses.length > 0
      ? `the record of ${host} is not proxied: switch the proxy on in the dashboard (DNS)`
      : `${host} has no record: add AAAA ${host} 100::, proxied, in the dashboard (DNS)`,
  )
}

const mailServer = /(^|\.)mx\.cloudflare\.net\.?$/

function mailed(records: readonly DnsRecord[], domain: string): Finding {
  const servers = records.filter(({ type }) => type === 'MX').map(({ content }) => content)
  if (servers.length > 0 && servers.every((one) => mailServer.test(one))) {
    return well(`mail to ${domain} goes to Email Routing`)
  }
  return wrong(
    servers.length > 0
      ? `mail to ${domain} goes to ${servers.join(' and ')}: remove these MX records and enable Email Routing for ${domain}`
      : `${domain} has no MX records: enable Email Routing for it in the dashboard (Email), which adds them`,
  )
}
