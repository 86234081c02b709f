import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'
import { order, source } from '../../shared/contract/yield.ts'

/** Contract of `defi_order_cancel`: cancels an order that is not signed. */
export const defiOrderCancel = operation({
  id: 'defi_order_cancel',
  method: 'POST',
  folder: 'defi-order-cancel',
  access: 'pay',
  mutates: true,
  gap: 'GAP_DEFI_AUTOMATION_V1',
  effects: ['repeatable'],
  needs: ['YIELD_VAULTS'],
  position: 190,
  summary: 'Cancels an order that waits for a confirmation. Nothing of it is ever signed.',
  request: z.strictObject({ order_id: z.uuid().describe('From defi_order_create.') }),
  response: z.object({ order, source }),
  errors: ['payment_not_found', 'payment_closed'],
})
