/** A row that approves hides no warning that the page of the payment shows. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { changedPurchase, changeWarnings } from '../support/changed-purchase.ts'
import { openMarket } from '../support/market.ts'
import { openShop } from '../support/shop.ts'
import { waitingTransfer } from '../support/waiting-transfer.ts'

const market = await openMarket()
const shop = await openShop(market)

/** Returns the warnings of a payment's page, and those that are missing in its row although the row approves. */
function hiddenIn(row: string, page: string, warnings: readonly string[]) {
  for (const warning of warnings) expect(page).toContain(warning)
  return row.includes('value="approved"') ? warnings.filter((one) => !row.includes(one)) : []
}

function rowOf(html: string, payment: string): string {
  return html.split('<tr>').find((row) => row.includes(`/approve/${payment}"`)) ?? ''
}

test('a row that pays a new recipient from a new device says so', async () => {
  const { browser, page, transfer_id } = await waitingTransfer(market)

  const shown = await browser.visit(page)
  const { html } = await browser.visit('/web/approvals')

  expect(hiddenIn(rowOf(html, transfer_id), shown.text, ['New device', 'New recipient'])).toEqual(
    [],
  )
})

test('a row that approves a purchase says that payee and price changed and another host is named', async () => {
  const { agent, attempt } = await changedPurchase(market, shop)
  const browser = await signedIn(market, agent)

  const shown = await browser.visit(`/web/approve/${attempt}`)
  const { html } = await browser.visit('/web/approvals')

  expect(hiddenIn(rowOf(html, attempt), shown.text, changeWarnings)).toEqual([])
})
