/** Owners' actions, agents' reads, and answers stored under an Idempotency-Key. */
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickKey, pickPayment, rowOf, strangers } from './house.ts'
import { claimKey, keepAnswer } from './kept-answers.ts'
import { fieldsOf, newDigest } from './ledger.ts'
import { isPromised, mayPay } from './limits.ts'
import type { Account } from './state.ts'
import { admit, refusable } from './state.ts'
import { capsWire, limitsWire, paymentWire } from './wire.ts'

const columns = {
  automatic: 'automatic_daily_limit_usd_micros',
  asserted: 'asserted_daily_limit_usd_micros',
  newRecipient: 'asserted_new_recipient_limit_usd_micros',
  cap: 'daily_spending_cap_usd_micros',
} as const

async function changeLimit(house: House, dice: Dice): Promise<void> {
  const account = dice.anyOf(house.twin.accounts)
  if (!account) return
  const name = dice.oneOf(['automatic', 'asserted', 'newRecipient', 'cap'])
  const micros = dice.oneOf([0n, 10n, 100n, 200n, 300n, 500n, 1000n, 2000n]) * 1_000_000n
  account.limits[name] = micros
  account.version += 1
  const change = `${columns[name]} = ${micros}, facts_version = facts_version + 1`
  await house.ledger.query(`update private.accounts set ${change} where id = $1`, [account.id])
}

async function changeCaps(house: House, dice: Dice): Promise<void> {
  const key = dice.anyOf(house.twin.keys)
  if (!key) return
  const draw = (usd: readonly [bigint, ...bigint[]]) =>
    dice.isLucky(40) ? null : dice.oneOf(usd) * 1_000_000n
  key.caps = { payment: draw([0n, 5n, 10n, 40n]), day: draw([0n, 5n, 20n, 60n, 200n]) }
  key.account.version += 1
  await house.ledger.query(
    `with changed as (update private.credentials set max_per_payment_usd_micros = $2,
       max_per_day_usd_micros = $3 where id = $1 returning account)
     update private.accounts a set facts_version = a.facts_version + 1
       from changed where a.id = changed.account`,
    [key.id, key.caps.payment, key.caps.day],
  )
}

/** Revokes a key, lets it expire or restores it; the last only keeps a long run from dying out. */
async function changeKey(house: House, dice: Dice): Promise<void> {
  const key = dice.anyOf(house.twin.keys)
  if (!key) return
  key.revokedAt = dice.isLucky(10) ? house.twin.now : null
  key.expiresAt = dice.isLucky(15) ? house.twin.now + dice.below(900) : null
  await house.ledger.query(
    `update private.credentials set revoked_at = case when $2 then private.clock() end,
       expires_at = to_timestamp($3) where id = $1`,
    [key.id, key.revokedAt !== null, key.expiresAt],
  )
}

async function know(house: House, dice: Dice): Promise<void> {
  const account = dice.anyOf(house.twin.accounts)
  if (!account) return
  const payee = dice.oneOf(strangers)
  if (dice.isLucky(40)) return forget(house, account, payee)
  if (!account.recipients.has(payee)) account.recipients.set(payee, null)
  await house.ledger.query(
    `insert into private.known_recipients (account, chain_family, address, session)
     select account, 'evm', $2, id from private.credentials where account = $1 and kind = 'session'
     on conflict do nothing`,
    [account.id, payee],
  )
}

/** Removes a known recipient, which stays removed whatever settles later. */
async function forget(house: House, account: Account, address: string): Promise<void> {
  const question = { credential: account.session, address }
  const answer = await ask(house, 'owner_forget_recipient', question)
  const forgotten = account.recipients.delete(address)
  account.version += 1
  if (forgotten) account.feed.push({ type: 'recipient_forgotten', payment: null })
  agree('owner_forget_recipient', answer, [{ forgotten }])
}

async function readIdentity(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const answer = await ask(house, 'get_identity', { credential })
  const key = refusable(() => admit(house.twin, credential, 'read'))
  if ('refused' in key) return agree('get_identity', answer, key)
  const { alias, limits, frozen, credential: told } = fieldsOf(rowOf(answer)?.['identity'])
  const { caps } = fieldsOf(told)
  const { account } = key
  const wanted = {
    alias: account.alias,
    limits: {
      ...limitsWire(house.twin, account),
      asserted_new_recipient: account.limits.newRecipient.toString(),
    },
    caps: capsWire(house.twin, key),
  }
  agree('get_identity', { alias, limits, caps, frozen }, { ...wanted, frozen: account.isFrozen })
}

async function readWallet(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const answer = await ask(house, 'get_wallet', { credential })
  const key = refusable(() => admit(house.twin, credential, 'read'))
  if ('refused' in key) return agree('get_wallet', answer, key)
  const { account } = key
  const open = house.twin.payments.filter(
    (one) => one.account === account && isPromised(house.twin, one),
  )
  const reserved = open.reduce((sum, { usd }) => sum + usd, 0n)
  const wanted = { address: account.wallet, reserved_usd_micros: reserved.toString() }
  agree('get_wallet', answer, [wanted])
}

const page = 10

async function readFeed(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const answer = await ask(house, 'list_activity', { credential, page })
  const key = refusable(() => admit(house.twin, credential, 'read'))
  if ('refused' in key) return agree('list_activity', answer, key)
  const rows = Array.isArray(answer) ? answer : []
  const told = rows.map(({ type, payment }) => {
    const { id, state } = fieldsOf(payment)
    return { type, id, state }
  })
  const newest = key.account.feed.slice(-page).reverse()
  const wanted = newest.map(({ type, payment }) => {
    return { type, id: payment?.id, state: payment?.state }
  })
  agree('list_activity', told, wanted)
}

async function findOne(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  if (!payment) return
  const { credential } = pickKey(house, dice, payment.account)
  const answer = await ask(house, 'find_payment', { credential, payment: payment.id })
  const key = refusable(() => admit(house.twin, credential, 'read'))
  if ('refused' in key) return agree('find_payment', answer, key)
  const isOwn = key.account === payment.account
  const found = {
    payment_row: paymentWire(house.twin, payment),
    is_own: mayPay(house.twin, key, payment),
    decision: payment.approval?.decision ?? null,
  }
  agree('find_payment', answer, isOwn ? [found] : [])
}

const operation = 'wallet_custodial_transfer'
const drawnKey = (dice: Dice) => ({ operation, key: `key ${dice.below(4)}` })

async function claimAnswer(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const asked = { credential, ...drawnKey(dice) }
  const digest = `digest ${dice.below(5) === 0 ? 1 : 0}`
  const question = { ...asked, needed: 'read', request_digest: digest }
  const answer = await ask(house, 'claim_idempotency', question)
  const row = rowOf(answer)
  const claim = String(row?.['claim'])
  const wanted = refusable(() => claimKey(house.twin, { ...asked, digest }, claim))
  agree('claim_idempotency', row ?? answer, wanted)
}

async function keepOne(house: House, dice: Dice): Promise<void> {
  const { credential } = pickKey(house, dice)
  const asked = { credential, ...drawnKey(dice) }
  const kept = dice.isLucky(70) ? { status: 200, body: `body ${dice.below(9)}` } : null
  const answer = await ask(house, 'keep_answer', { ...asked, ...kept })
  const wanted = refusable(() => {
    keepAnswer(house.twin, asked, kept)
    return [{ keep_answer: true }]
  })
  agree('keep_answer', answer, wanted)
}

/** Adds or removes a passkey of an owner. Removing the last one leaves sessions as the only proof. */
async function changePasskey(house: House, dice: Dice): Promise<void> {
  const account = dice.anyOf(house.twin.accounts)
  if (!account) return
  const id = newDigest()
  const added = {
    id,
    publicKey: `key_of_${id.slice(0, 8)}`,
    counter: dice.below(3),
    addedAt: house.twin.now,
  }
  const isAdded = dice.isLucky(40)
  account.passkeys = isAdded ? [...account.passkeys, added] : account.passkeys.slice(1)
  await house.ledger.query(
    `with kept as (delete from private.passkeys where account = $1 and id <> all ($2)),
       proven as (update private.sessions s set proven_by = $7 from private.credentials k
         where k.id = s.credential and k.account = $1)
     insert into private.passkeys (id, account, public_key, counter, transports, label, is_first)
     select $3, $1, $4, $5, '{}', 'model', true where $6`,
    [
      account.id,
      account.passkeys.map((one) => one.id),
      id,
      added.publicKey,
      added.counter,
      isAdded,
      account.passkeys[0]?.id ?? null,
    ],
  )
}

export const ownerOperations: readonly Operation[] = [
  { name: 'change limit', weight: 2, run: changeLimit },
  { name: 'change caps', weight: 1, run: changeCaps },
  { name: 'change key', weight: 1, run: changeKey },
  { name: 'know recipient', weight: 1, run: know },
  { name: 'change passkey', weight: 1, run: changePasskey },
  { name: 'identity', weight: 1, run: readIdentity },
  { name: 'wallet', weight: 1, run: readWallet },
  { name: 'feed', weight: 1, run: readFeed },
  { name: 'find', weight: 2, run: findOne },
  { name: 'claim key', weight: 2, run: claimAnswer },
  { name: 'keep answer', weight: 2, run: keepOne },
]
