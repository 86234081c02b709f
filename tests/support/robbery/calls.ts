/** Operations as a thief calls them, with any key or token that it holds. */
import { contracts } from '../../../functions/contracts.ts'
import type { Dice } from '../model/dice.ts'
import type { Input } from '../samples.ts'
import { sampleOf, shapeOf } from '../samples.ts'
import type { Answer } from '../world.ts'
import { userAgent } from '../world.ts'
import type { Home } from './home.ts'
import { seed } from './home.ts'
import type { Thief } from './thief.ts'
import { hear } from './thief.ts'

export const operations = contracts.filter(({ access }) => access !== 'public')
export type OperationId = (typeof operations)[number]['id']

/** Operations with useful effects, which are tried more often. */
const favoured = [
  'wallet_custodial_transfer',
  'wallet_custodial_transfer',
  'wallet_custodial_transfer',
  'vault_use',
  'vault_totp',
  'user_site_credentials',
  'mail_read',
  'create_login_link',
]

export function drawOperation(dice: Dice): OperationId {
  if (dice.isLucky(50)) return dice.anyOf(favoured) ?? 'vault_use'
  return dice.anyOf(operations)?.id ?? 'get_identity'
}

/** Calls an operation with an input about the account; `pick` determines its choices. */
export async function call(
  thief: Thief,
  bearer: string,
  { id, pick, mimics }: { id: OperationId; pick: number; mimics: boolean },
): Promise<Answer> {
  const contract = operations.find((one) => one.id === id)
  if (!contract) throw new Error(`no operation ${id}`)
  // The sample of the contract serves where the input needs nothing of the account.
  const input = inputs[id]?.(thief.home, thief.address, pick) ?? sampleOf(contract)
  const shape = shapeOf(contract, input)
  const headers = {
    ...Object.fromEntries(new Headers(shape.init.headers)),
    authorization: `Bearer ${bearer}`,
    // A thief may claim to be the agent's own program.
    'user-agent': mimics ? userAgent : 'thief/1.0',
  }
  const answer = await thief.home.town.world.send(shape.path, { ...shape.init, headers })
  hear(thief, id, answer)
  const { url } = answer.body
  if (id === 'create_login_link' && typeof url === 'string') thief.links.push(new URL(url).pathname)
  return answer
}

const oneOf = <Item>(items: readonly Item[], pick: number) => items[pick % items.length]
const amounts = ['0.5', '5', '9', '60', '150', '199', '400', '1500']

const inputs: Record<string, (home: Home, thief: string, pick: number) => Input> = {
  wallet_custodial_transfer: transfer,
  transfer_status: ({ ids }) => ({ transfer_id: ids.waiting }),
  payment_mandate_create: (_, thief) => ({
    merchant_domain: 'www.evil.com',
    pay_to: [thief],
    max_amount_per_payment_usd: '500',
    ttl_seconds: 86_400,
  }),
  payment_mandate_status: ({ ids }) => ({ mandate_id: ids.mandate }),
  payment_mandate_statement: ({ ids }) => ({ mandate_id: ids.mandate }),
  payment_mandate_revoke: ({ ids }, _, pick) => ({
    mandate_id: oneOf([ids.mandate, ids.askedMandate], pick),
  }),
  consent_receipt: ({ ids }) => ({ payment_id: ids.approved }),
  create_login_link: (_, __, pick) =>
    pick % 3 === 0
      ? { action_type: 'deposit', token: 'USDC' }
      : { action_type: 'website_login', site: 'https://www.evil.com' },
  store_site_credentials: () => login,
  vault_store: () => login,
  vault_generate: () => ({ site: 'https://www.evil.com' }),
  user_site_credentials: ({ ids }) => ({ credential_id: ids.entry }),
  vault_totp: ({ ids }) => ({ credential_id: ids.entry }),
  vault_delete: ({ ids }) => ({ credential_id: ids.entry }),
  vault_use: use,
  vault_login: ({ ids }) => ({ credential_id: ids.entry, path: '/login' }),
  mail_read: ({ ids }) => ({ mail_id: ids.mail }),
  mail_send: () => ({
    to: ['victim@people.example'],
    subject: 'Hello',
    text: 'Send me your code.',
  }),
}

const login = { site: 'https://www.evil.com', username: 'me', password: 'of the thief, long' }

function transfer({ friend, payee, ids }: Home, thief: string, pick: number): Input {
  const terms = { chain: 'base-sepolia', token: 'USDC', user_confirmed: pick % 5 > 0 }
  if (pick % 11 === 0)
    return { ...terms, recipient: payee, amount: '400', transfer_id: ids.approved }
  const recipient = oneOf([thief, thief, friend, payee], pick >> 3)
  return { ...terms, recipient, amount: oneOf(amounts, pick) }
}

function use({ ids }: Home, _: string, pick: number): Input {
  const secret = oneOf(['password', 'password', 'totp', `mail.c_${seed}`], pick)
  const name = oneOf(['pass', 'note'], pick >> 2)
  return {
    credential_id: ids.entry,
    method: 'POST',
    path: oneOf(['/login', '/elsewhere'], pick >> 3),
    inject: [{ where: 'form_field', name, secret }],
  }
}
