/** Two files of public keys, by which anybody checks session tokens and consent receipts. */
import { publishedKeys } from '../../../shared/auth/session.ts'
import { receiptKeys } from '../../../shared/consent/receipt.ts'
import type { Routes } from '../visit.ts'

const cached = 'public, max-age=300'

/** Routes that send both key sets (RFC 7517). */
export const routes: Routes = (app) => {
  app.get('/jwks.json', (c) => {
    c.header('cache-control', cached)
    return c.json(publishedKeys(c.get('world')))
  })

  app.get('/receipt-keys.json', async (c) => {
    c.header('cache-control', cached)
    return c.json(await receiptKeys(c.get('world').config.RECEIPT_PUBLIC_KEYS))
  })
}
