/** The moves of a thief, as plain data. */
import { callRpc } from '../../../scripts/local/rpc.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { openBrowser } from '../browserless.ts'
import type { Dice } from '../model/dice.ts'
import { diceOf } from '../model/dice.ts'
import type { Scope } from '../world.ts'
import type { OperationId } from './calls.ts'
import { call, drawOperation } from './calls.ts'
import { pagesOf, post, sendForm } from './forms.ts'
import type { RowName } from './table.ts'
import { table } from './table.ts'
import type { Thief } from './thief.ts'
import { hear } from './thief.ts'
import { comeBack, letAppIn, makeCodes, makeKey, plantPasskey, useLink } from './ways.ts'

/** One move. Of several items that the thief holds, `with` selects one, modulo their number. */
export type Move =
  | { do: 'call'; with: number; id: OperationId; pick: number; mimics: boolean }
  | { do: 'form'; with: number; page: number; seed: number }
  | { do: 'plant passkey' | 'make codes'; with: number }
  | { do: 'make key' | 'let app in'; with: number; scope: Scope }
  | { do: 'use link'; with: number; pick: number }
  | { do: 'come back'; pick: number }
  | { do: 'sign up' | 'follow mails' }
  | { do: 'wait'; seconds: number }

const minute = 60
const waits = [20, 5 * minute, 12 * minute, 3_600, 5 * 3_600] as const

/** Draws a move that the stolen item, or an item the thief may gain, allows. */
export function drawMove(dice: Dice, row: RowName): Move {
  const isOfAgent = table[row].bearer !== null
  const held = dice.below(3)
  if (row === 'mailbox') return drawOfMailbox(dice)
  if (dice.isLucky(8)) return { do: 'wait', seconds: dice.oneOf(waits) }
  if (dice.isLucky(isOfAgent ? 90 : 20)) {
    const id = drawOperation(dice)
    return { do: 'call', with: held, id, pick: dice.below(10_000), mimics: dice.isLucky(60) }
  }
  if (dice.isLucky(70)) {
    return { do: 'form', with: held, page: dice.below(1_000), seed: dice.below(1_000_000) }
  }
  return drawWay(dice, held)
}

function drawWay(dice: Dice, held: number): Move {
  const scope = dice.oneOf<Scope>(['read', 'vault', 'pay', 'full'])
  return dice.oneOf<Move>([
    { do: 'plant passkey', with: held },
    { do: 'make codes', with: held },
    { do: 'make key', with: held, scope },
    { do: 'let app in', with: held, scope },
    { do: 'use link', with: held, pick: dice.below(4) },
    { do: 'come back', pick: dice.below(4) },
  ])
}

function drawOfMailbox(dice: Dice): Move {
  if (dice.isLucky(70)) return { do: dice.oneOf(['sign up', 'follow mails']) }
  return { do: 'wait', seconds: dice.oneOf(waits) }
}

const one = <Item>(items: readonly Item[], which: number) =>
  items[which % Math.max(items.length, 1)]

export async function make(thief: Thief, move: Move): Promise<void> {
  switch (move.do) {
    case 'wait':
      return thief.home.town.world.tick(move.seconds)
    case 'come back':
      return comeBack(thief, move.pick)
    case 'sign up':
      return signUp(thief)
    case 'follow mails':
      return followMails(thief)
    case 'call': {
      const bearer = one(thief.bearers, move.with)
      if (bearer !== undefined) await call(thief, bearer, move)
      return
    }
    case 'form':
    case 'plant passkey':
    case 'make codes':
    case 'make key':
    case 'let app in':
    case 'use link':
      return makeInBrowser(thief, move)
  }
}

type InBrowser = Exclude<Move, { do: 'wait' | 'come back' | 'sign up' | 'follow mails' | 'call' }>

async function makeInBrowser(thief: Thief, move: InBrowser): Promise<void> {
  // Viewing a link needs no session.
  const isLink = move.do === 'use link'
  const browser =
    one(thief.browsers, move.with) ?? (isLink ? openBrowser(thief.home.town.world) : undefined)
  if (!browser) return
  switch (move.do) {
    case 'form': {
      const path = one(pagesOf(thief.home, thief.address), move.page) ?? '/web'
      await sendForm(thief, browser, path, diceOf(move.seed))
      return
    }
    case 'plant passkey':
      return plantPasskey(thief, browser)
    case 'make codes':
      return makeCodes(thief, browser)
    case 'make key':
      return makeKey(thief, browser, move.scope)
    case 'let app in':
      return letAppIn(thief, browser, move.scope)
    case 'use link':
      return useLink(thief, browser, move.pick)
  }
}

/** Signs up with the address, by the code that is mailed to it. */
async function signUp(thief: Thief): Promise<void> {
  const { world } = thief.home.town
  const { email } = thief.home
  const send = (path: string, body: object) =>
    world.send(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  hear(thief, 'sign up', await send('/request-signup-verification', { email }))
  const texts = (await world.mails(email)).map(({ text }) => text)
  const [code = '000000'] =
    /\b\d{6}\b/.exec(texts.findLast((text) => /\b\d{6}\b/.test(text)) ?? '') ?? []
  const confirmed = await send('/confirm-registration-code', { email, code })
  hear(thief, 'sign up', confirmed)
  const url = confirmed.body['registration_url']
  if (typeof url !== 'string') return
  const browser = openBrowser(world)
  const { pathname } = new URL(url)
  hear(thief, 'sign up', await browser.visit(pathname))
  const given = { alias: `theirs-${Date.now() % 1e9}`, password: 'of a thief, long enough' }
  hear(thief, 'sign up', await post(browser, pathname, given))
}

/** Follows the latest links in the owner's mails and sends a form of each page. */
async function followMails(thief: Thief): Promise<void> {
  const { world } = thief.home.town
  const mails = await world.mails(thief.home.email)
  const paths = mails.flatMap(({ text }) => [...text.matchAll(/http:\/\/localhost(\/\S+)/g)])
  for (const [, path = ''] of paths.slice(-3)) {
    await sendForm(thief, openBrowser(world), path, diceOf(path.length))
  }
}

/** Has signed payments carried to the chain. */
export async function letSettle({ home }: Thief): Promise<void> {
  const { world } = home.town
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x1']])
  await runHousekeeping(world.world)
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x1']])
}
