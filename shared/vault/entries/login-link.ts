/**
 * Logins that the owner enters by a link. The link fixes the account and the site; the owner enters the
 * rest. The new entry belongs to the owner, and no existing entry is changed.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../../contract/errors.ts'
import { unbound } from '../../db/database.ts'
import { wrapSchema } from '../../sealing/wrap.ts'
import { catchRefusal } from '../answering.ts'
import { keyOrNew, sealRecord } from '../envelope.ts'
import type { VaultContext } from '../room.ts'
import type { LoginByLink, LoginLinkPort } from './login-link-port.ts'
import { encodeSecret, listedParts, type Secret, secretOf } from './record.ts'

const askedRow = z.object({ account: z.uuid(), site: z.string(), wrap: wrapSchema.nullable() })
type Asked = z.output<typeof askedRow>

const storedRow = z.object({ outcome: z.enum(['stored', 'exists', 'over', 'again']) })

/** Returns the operation of the vault that takes logins by links. */
export function openLoginLinks(context: VaultContext): LoginLinkPort {
  return { storeByLink: (login) => catchRefusal(() => store(context, login)) }
}

async function store(
  context: VaultContext,
  { username, secret: typed, mail, ...link }: LoginByLink,
): Promise<'stored' | 'exists' | 'over' | Refusal> {
  const secret = secretOf(typed, {}, username)
  if ('refused' in secret) return fail('credential_refused', { message: secret.refused })
  const db = unbound(context.world.db)
  const asked = await db.one('link_login_asked', link, askedRow)
  if (!asked) return 'over'
  const { newWrap, entry } = sealLogin(context, asked, username, secret)
  const stored = await db.one(
    'link_store_login',
    { ...link, new_wrap: newWrap, entry, mail },
    storedRow,
  )
  switch (stored?.outcome ?? 'over') {
    case 'again':
      // Another request stored the account's new key at the same moment.
      return fail('conflict')
    case 'stored':
      return 'stored'
    case 'exists':
      return 'exists'
    case 'over':
      return 'over'
  }
}

function sealLogin(context: VaultContext, asked: Asked, username: string, secret: Secret) {
  const { world } = context
  const { account, site } = asked
  const roots = context.roots('vault')
  const random = (length: number) => world.randomBytes(length)
  const { wrap, newWrap } = keyOrNew(roots, random, account, asked.wrap)
  const id = world.newId()
  const place = { account, record: id, version: 1, site }
  const entry = {
    id,
    username,
    sealed: sealRecord({ roots, wrap }, random, place, encodeSecret(secret)),
    ...listedParts(secret),
  }
  return { newWrap, entry }
}
