/** A zone of Cloudflare, and the rule by which Email Routing hands its mail to a worker. */
import * as z from 'zod'
import { callPlatform, type PlatformAccess } from './platform-api.ts'
import type { DeploySettings } from './settings.ts'

/** Address of the API. */
export const cloudflareUrl = 'https://api.cloudflare.com/client/v4'

const zoneSchema = z.object({
  id: z.string(),
  name: z.string(),
  account: z.object({ id: z.string() }),
})

/** A zone with its account. */
export type Zone = z.output<typeof zoneSchema>

/** Returns the zone of this name; undefined if the token sees none. */
export async function findZone(access: PlatformAccess, name: string): Promise<Zone | undefined> {
  const { body } = await callPlatform(access, 'GET', `/zones?name=${name}`)
  const read = z.object({ result: z.array(zoneSchema) }).safeParse(body)
  return read.data?.result.find((zone) => zone.name === name)
}

/** Decides whether a deployment sets the rule: the API has one for the mail of the zone's own name alone. */
export function setsMailRule({ mailDomain, zone }: DeploySettings): boolean {
  return mailDomain === zone
}

const ruleSchema = z.object({
  result: z.object({
    enabled: z.boolean(),
    actions: z.array(z.object({ type: z.string(), value: z.array(z.string()).default([]) })),
  }),
})

/** Hands all mail of the mail domain to a worker. Returns a sentence for what its operator has to do. */
export async function handMailTo(
  access: PlatformAccess,
  settings: DeploySettings,
  worker: string,
): Promise<string | undefined> {
  const { isSet, path } = await lookAtRule(access, settings, worker)
  if (isSet) return undefined
  if (path === undefined) return ruleByHand(settings, worker)
  const rule = {
    enabled: true,
    matchers: [{ type: 'all' }],
    actions: [{ type: 'worker', value: [worker] }],
  }
  const { status } = await callPlatform(access, 'PUT', path, rule)
  return status === 200 ? undefined : ruleByHand(settings, worker)
}

/** Returns a sentence for what has to be done, and changes nothing. */
export async function plannedMail(
  access: PlatformAccess,
  settings: DeploySettings,
  worker: string,
): Promise<string | undefined> {
  const { isSet, path } = await lookAtRule(access, settings, worker)
  if (isSet) return undefined
  return path === undefined
    ? ruleByHand(settings, worker)
    : `would let the catch-all rule of ${settings.mailDomain} send to the worker ${worker}`
}

function ruleByHand({ mailDomain }: DeploySettings, worker: string): string {
  return `Let the catch-all rule of ${mailDomain} send to the worker ${worker} (dashboard, Email Routing)`
}

/** Returns whether the rule is set, and its path if it may be set here. */
async function lookAtRule(
  access: PlatformAccess,
  settings: DeploySettings,
  worker: string,
): Promise<{ isSet: boolean; path?: string }> {
  const found = setsMailRule(settings) ? await findZone(access, settings.zone) : undefined
  if (!found) return { isSet: false }
  const path = `/zones/${found.id}/email/routing/rules/catch_all`
  const read = ruleSchema.safeParse((await callPlatform(access, 'GET', path)).body)
  if (!read.success) return { isSet: false }
  const { enabled, actions } = read.data.result
  const isSet =
    enabled && actions.some(({ type, value }) => type === 'worker' && value[0] === worker)
  // Mail that goes elsewhere already is somebody's, unless a worker of this deployment had it.
  const isOwn = ({ type, value }: (typeof actions)[number]) =>
    type === 'drop' ||
    (type === 'worker' && value.every((one) => one.startsWith(`${settings.name}-`)))
  return { isSet, ...((!enabled || actions.every(isOwn)) && { path }) }
}
