import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { decisionMakerFor, refuseEnded } from '../../shared/payments/decide/judge.ts'
import {
  enterTransfer,
  findAsset,
  readTransferOrder,
} from '../../shared/payments/enter/transfer.ts'
import { payEntered } from '../../shared/payments/pay/transfer.ts'
import { transferBody } from '../../shared/payments/show/transfer-status.ts'
import { yieldGatesOf } from '../../shared/yield/registry.ts'
import type { walletCustodialTransfer } from './contract.ts'

/** Enters a transfer, or finds the one of `transfer_id`, and sends it once the rules are met. */
export const run: Handler<typeof walletCustodialTransfer> = async (input, context) => {
  const { config } = context.world
  const asset = await findAsset(context, input)
  if (isRefusal(asset)) return asset
  const order = readTransferOrder(input, asset, config)
  if (isRefusal(order)) return order
  const { transfer_id: transferId, memo, user_confirmed: isConfirmed = false } = input
  const { recipient, chain } = order
  const isToGate = recipient.kind === 'address' && yieldGatesOf(config)(chain, recipient.address)
  if (isToGate && transferId === undefined)
    return fail('recipient_refused', { message: onlyOrders })
  const entered = await enterTransfer(context, order, { transferId, memo })
  if (isRefusal(entered)) return entered
  const ended = refuseEnded(entered, 'Enter it again.')
  if (ended) return ended
  const decisionMaker = decisionMakerFor(context, isConfirmed, transferId !== undefined)
  const paid = await payEntered(context, entered, decisionMaker)
  if (isRefusal(paid)) return paid
  return { ...transferBody(paid.payment), ...paid.asked }
}

const onlyOrders = 'This contract takes orders alone: use defi_order_create.'
