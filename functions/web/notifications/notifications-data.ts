/** Reads and parses the owner's choice of notices by mail and push, and the browsers that show them. */
import * as z from 'zod'
import { decodeBytes } from '../../../shared/base64.ts'
import { time } from '../../../shared/db/row-fields.ts'
import { checkUrl } from '../../../shared/egress/safe-fetch.ts'
import type { Config } from '../../../shared/env.ts'
import { importPublicKey } from '../../../shared/mail/push.ts'
import type { Owner } from '../visit.ts'

const choicesRow = z.object({
  /** Notices that are left out, each as channel and kind. */
  muted: z.array(z.string()),
  devices: z.array(z.object({ id: z.uuid(), label: z.string(), created_at: time })),
})
/** Choices of the owner, with the browsers that receive pushes. */
export type NoticeChoices = z.output<typeof choicesRow>

/** Reads the choices of the owner. */
export async function readChoices({ db }: Owner): Promise<NoticeChoices> {
  const found = await db.one('owner_read_notifications', {}, choicesRow)
  return found ?? { muted: [], devices: [] }
}

/** Kinds of notices (private.notice_kind), with the ways that the owner may leave out. */
export const noticeKinds = [
  {
    kind: 'approvals',
    title: 'Requests to approve',
    hint: 'Payments and mandates that wait for your decision.',
    ways: ['mail', 'push'],
  },
  {
    kind: 'logins',
    title: 'Logins in use',
    hint: 'A stored login is used at a new site, or was added by a link.',
    ways: ['mail', 'push'],
  },
  {
    kind: 'security',
    title: 'Security',
    hint: 'Sign-ins, keys, apps, limits and freezes. The mails always come.',
    ways: ['push'],
  },
] as const

/** Returns what the form leaves out: every choice that is not ticked. */
export function mutedIn(form: URLSearchParams): string[] {
  const all = noticeKinds.flatMap(({ kind, ways }) => ways.map((way) => `${way}:${kind}`))
  return all.filter((choice) => !form.has(choice))
}

const subscription = z.object({
  endpoint: z.string().max(1000),
  p256dh: z
    .string()
    .regex(/^[A-Za-z0-9_-]{87}$/)
    .refine(isPublicKey),
  auth: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
})

/** Reads the subscription of a browser; undefined if it is none, or its push service may not be reached. */
export async function subscriptionIn(form: URLSearchParams, config: Config) {
  const { data } = await subscription.safeParseAsync(Object.fromEntries(form))
  return data && !('refused' in checkUrl(data.endpoint, config)) ? data : undefined
}

function isPublicKey(text: string): Promise<boolean> {
  return importPublicKey(decodeBytes(text) ?? new Uint8Array()).then(
    () => true,
    () => false,
  )
}
