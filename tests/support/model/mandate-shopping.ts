/** Purchases made for a mandate: amounts that it lets through, and amounts that exceed it by a unit. */
import { authorizeAs, drawAsked } from './authorizing.ts'
import type { Dice } from './dice.ts'
import { drawEntry, drawMerchant, enterAs } from './entering.ts'
import type { House, Operation } from './house.ts'
import { pickKey, strangers } from './house.ts'
import { usageOf } from './mandates.ts'
import { tick } from './nature.ts'
import type { Entry } from './payments.ts'
import type { Mandate, Twin } from './state.ts'

const hourSeconds = 3_600

async function shop(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const active = twin.mandates.filter((one) => one.state === 'active' && one.expiresAt > twin.now)
  const mandate = dice.anyOf(dice.isLucky(90) ? active.slice(-5) : twin.mandates)
  if (!mandate) return
  // Moves the clock to the mandate's last second, or to the second in which it ends.
  const rest = mandate.expiresAt - twin.now - dice.below(2)
  if (dice.isLucky(15) && rest > 0 && rest < hourSeconds) await tick(house, rest)
  const key = dice.isLucky(85) ? mandate.key : pickKey(house, dice, mandate.account)
  const payment = await enterAs(house, key, drawPurchase(house, dice, mandate))
  if (!payment || dice.isLucky(20)) return
  const asked = { ...drawAsked(house, dice, key, payment), mandate, level: 'mandate' as const }
  await authorizeAs(house, key, asked, dice)
}

function drawPurchase(house: House, dice: Dice, mandate: Mandate): Entry {
  const { payTo, tokens } = mandate
  const payee = dice.anyOf(payTo ?? []) ?? dice.oneOf(strangers)
  const isTransfer = payTo !== null && dice.isLucky(40)
  const usd = drawUsd(house.twin, dice, mandate)
  const drawn = drawEntry(house, dice)
  const merchant = { ...drawMerchant(dice), origin: originFor(dice, mandate) }
  const nowhere = { origin: null, resource: null, heard: false }
  const token = dice.anyOf(tokens ?? []) ?? drawn.token
  return {
    ...drawn,
    kind: isTransfer ? 'transfer' : 'x402',
    ...(isTransfer ? nowhere : merchant),
    device: dice.isLucky(90) ? mandate.device : drawn.device,
    token,
    payee,
    alias: null,
    usd,
    atomic: usd,
  }
}

function originFor(dice: Dice, { domain, subdomains }: Mandate): string {
  if (domain.startsWith('localhost')) return 'http://localhost:4021'
  return dice.isLucky(subdomains ? 50 : 10) ? `https://www.${domain}` : `https://${domain}`
}

/** Draws the rest of a cap, a unit more, or a small amount. */
function drawUsd(twin: Twin, dice: Dice, mandate: Mandate): bigint {
  const { caps } = mandate
  const { day, total } = usageOf(twin, mandate)
  const left = [
    caps.payment,
    ...(caps.day === null ? [] : [caps.day - day]),
    ...(caps.total === null ? [] : [caps.total - total]),
  ]
  const usd = dice.isLucky(40) ? (dice.anyOf(left) ?? 1n) : BigInt(1 + dice.below(9)) * 1_000_000n
  const drawn = dice.isLucky(20) ? usd + 1n : usd
  return drawn > 1n ? drawn : 2n
}

export const mandateShoppingOperations: readonly Operation[] = [
  { name: 'shop', weight: 8, run: shop },
]
