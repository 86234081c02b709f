/** Every operation as a test calls it: the deployed binding, except for the world that it runs in. */
import { accountExposure } from '../../functions/account-exposure/contract.ts'
import { run as runExposure } from '../../functions/account-exposure/handler.ts'
import { accountFreeze } from '../../functions/account-freeze/contract.ts'
import { run as runFreeze } from '../../functions/account-freeze/handler.ts'
import { checkAlias } from '../../functions/check-availability/contract.ts'
import { run as runCheckAlias } from '../../functions/check-availability/handler.ts'
import { confirmRegistrationCode } from '../../functions/confirm-registration-code/contract.ts'
import { run as runConfirmCode } from '../../functions/confirm-registration-code/handler.ts'
import { consentReceipt } from '../../functions/consent-receipt/contract.ts'
import { run as runConsentReceipt } from '../../functions/consent-receipt/handler.ts'
import { createAccount } from '../../functions/create-account/contract.ts'
import { run as runCreateAccount } from '../../functions/create-account/handler.ts'
import { createHostedAction } from '../../functions/create-hosted-action/contract.ts'
import { run as runCreateHosted } from '../../functions/create-hosted-action/handler.ts'
import { defiOrderCancel } from '../../functions/defi-order-cancel/contract.ts'
import { run as runDefiCancel } from '../../functions/defi-order-cancel/handler.ts'
import { defiOrderCreate } from '../../functions/defi-order-create/contract.ts'
import { run as runDefiCreate } from '../../functions/defi-order-create/handler.ts'
import { defiOrderEvents } from '../../functions/defi-order-events/contract.ts'
import { run as runDefiEvents } from '../../functions/defi-order-events/handler.ts'
import { defiOrdersList } from '../../functions/defi-orders-list/contract.ts'
import { run as runDefiOrders } from '../../functions/defi-orders-list/handler.ts'
import { defiVaultsList } from '../../functions/defi-vaults-list/contract.ts'
import { run as runDefiVaults } from '../../functions/defi-vaults-list/handler.ts'
import { getIdentity } from '../../functions/get-identity/contract.ts'
import { run as runGetIdentity } from '../../functions/get-identity/handler.ts'
import { walletBalances } from '../../functions/get-wallet-balances/contract.ts'
import { run as runWalletBalances } from '../../functions/get-wallet-balances/handler.ts'
import { hostedActionStatus } from '../../functions/hosted-action-status/contract.ts'
import { run as runHostedStatus } from '../../functions/hosted-action-status/handler.ts'
import { mailList } from '../../functions/mail-list/contract.ts'
import { run as runMailList } from '../../functions/mail-list/handler.ts'
import { mailRead } from '../../functions/mail-read/contract.ts'
import { run as runMailRead } from '../../functions/mail-read/handler.ts'
import { mailSend } from '../../functions/mail-send/contract.ts'
import { run as runMailSend } from '../../functions/mail-send/handler.ts'
import { mailWait } from '../../functions/mail-wait/contract.ts'
import { run as runMailWait } from '../../functions/mail-wait/handler.ts'
import { oauthFunction } from '../../functions/oauth/index.ts'
import { paymentMandateCreate } from '../../functions/payment-mandate-create/contract.ts'
import { run as runMandateCreate } from '../../functions/payment-mandate-create/handler.ts'
import { paymentMandateRevoke } from '../../functions/payment-mandate-revoke/contract.ts'
import { run as runMandateRevoke } from '../../functions/payment-mandate-revoke/handler.ts'
import { paymentMandateStatement } from '../../functions/payment-mandate-statement/contract.ts'
import { run as runMandateStatement } from '../../functions/payment-mandate-statement/handler.ts'
import { paymentMandateStatus } from '../../functions/payment-mandate-status/contract.ts'
import { run as runMandateStatus } from '../../functions/payment-mandate-status/handler.ts'
import { requestSignupVerification } from '../../functions/request-signup-verification/contract.ts'
import { run as runRequestSignup } from '../../functions/request-signup-verification/handler.ts'
import { resolveTransferRecipient } from '../../functions/resolve-transfer-recipient/contract.ts'
import { run as runResolveRecipient } from '../../functions/resolve-transfer-recipient/handler.ts'
import { transferStatus } from '../../functions/transfer-status/contract.ts'
import { run as runTransferStatus } from '../../functions/transfer-status/handler.ts'
import {
  storeSiteCredentials,
  userSiteCredentials,
} from '../../functions/user-site-credentials/contract.ts'
import {
  list as runListCredentials,
  store as runStoreCredentials,
} from '../../functions/user-site-credentials/handler.ts'
import { vaultDelete } from '../../functions/vault-delete/contract.ts'
import { run as runVaultDelete } from '../../functions/vault-delete/handler.ts'
import { vaultGenerate } from '../../functions/vault-generate/contract.ts'
import { run as runVaultGenerate } from '../../functions/vault-generate/handler.ts'
import { vaultList } from '../../functions/vault-list/contract.ts'
import { run as runVaultList } from '../../functions/vault-list/handler.ts'
import { vaultLogin } from '../../functions/vault-login/contract.ts'
import { run as runVaultLogin } from '../../functions/vault-login/handler.ts'
import { vaultSession } from '../../functions/vault-session/contract.ts'
import { run as runVaultSession } from '../../functions/vault-session/handler.ts'
import { vaultStore } from '../../functions/vault-store/contract.ts'
import { run as runVaultStore } from '../../functions/vault-store/handler.ts'
import { vaultTotp } from '../../functions/vault-totp/contract.ts'
import { run as runVaultTotp } from '../../functions/vault-totp/handler.ts'
import { vaultUse } from '../../functions/vault-use/contract.ts'
import { run as runVaultUse } from '../../functions/vault-use/handler.ts'
import { walletActivityList } from '../../functions/wallet-activity-list/contract.ts'
import { run as runWalletActivityList } from '../../functions/wallet-activity-list/handler.ts'
import { walletCustodialTransfer } from '../../functions/wallet-custodial-transfer/contract.ts'
import { run as runCustodialTransfer } from '../../functions/wallet-custodial-transfer/handler.ts'
import { x402PaymentExecute } from '../../functions/x402-payment-execute/contract.ts'
import { run as runX402Execute } from '../../functions/x402-payment-execute/handler.ts'
import { x402PaymentPrepare } from '../../functions/x402-payment-prepare/contract.ts'
import { run as runX402Prepare } from '../../functions/x402-payment-prepare/handler.ts'
import {
  type BoundOperation,
  bindOperation,
  type EdgeFunction,
  edgeFunctions,
} from '../../shared/http/edge.ts'
import type { World } from '../../shared/world.ts'

type OfFolder = readonly [BoundOperation, ...BoundOperation[]]

/** Operations of each folder, bound once because each binding builds the checks of its answers again. */
const operations: readonly OfFolder[] = [
  [bindOperation(getIdentity, runGetIdentity)],
  [bindOperation(checkAlias, runCheckAlias)],
  [bindOperation(requestSignupVerification, runRequestSignup)],
  [bindOperation(confirmRegistrationCode, runConfirmCode)],
  [bindOperation(createAccount, runCreateAccount)],
  [bindOperation(walletBalances, runWalletBalances)],
  [bindOperation(resolveTransferRecipient, runResolveRecipient)],
  [bindOperation(walletCustodialTransfer, runCustodialTransfer)],
  [bindOperation(transferStatus, runTransferStatus)],
  [bindOperation(x402PaymentPrepare, runX402Prepare)],
  [bindOperation(x402PaymentExecute, runX402Execute)],
  [bindOperation(paymentMandateCreate, runMandateCreate)],
  [bindOperation(paymentMandateStatus, runMandateStatus)],
  [bindOperation(paymentMandateRevoke, runMandateRevoke)],
  [bindOperation(paymentMandateStatement, runMandateStatement)],
  [bindOperation(defiVaultsList, runDefiVaults)],
  [bindOperation(defiOrderCreate, runDefiCreate)],
  [bindOperation(defiOrdersList, runDefiOrders)],
  [bindOperation(defiOrderCancel, runDefiCancel)],
  [bindOperation(defiOrderEvents, runDefiEvents)],
  [bindOperation(walletActivityList, runWalletActivityList)],
  [bindOperation(accountExposure, runExposure)],
  [bindOperation(accountFreeze, runFreeze)],
  [bindOperation(createHostedAction, runCreateHosted)],
  [bindOperation(consentReceipt, runConsentReceipt)],
  [bindOperation(vaultUse, runVaultUse)],
  [bindOperation(vaultLogin, runVaultLogin)],
  [bindOperation(vaultSession, runVaultSession)],
  [bindOperation(mailList, runMailList)],
  [bindOperation(mailRead, runMailRead)],
  [bindOperation(mailWait, runMailWait)],
  [bindOperation(mailSend, runMailSend)],
  [bindOperation(hostedActionStatus, runHostedStatus)],
  [
    bindOperation(storeSiteCredentials, runStoreCredentials),
    bindOperation(userSiteCredentials, runListCredentials),
  ],
  [bindOperation(vaultList, runVaultList)],
  [bindOperation(vaultStore, runVaultStore)],
  [bindOperation(vaultTotp, runVaultTotp)],
  [bindOperation(vaultGenerate, runVaultGenerate)],
  [bindOperation(vaultDelete, runVaultDelete)],
]

/** Returns the functions by folder. */
export function functionsIn(world: World): Map<string, EdgeFunction> {
  const given = () => world
  return new Map([
    ['oauth', oauthFunction(given)],
    ...operations.map((ofFolder): [string, EdgeFunction] => [
      ofFolder[0].contract.folder,
      onDemand(() => edgeFunctions(ofFolder, given)),
    ]),
  ])
}

/** Creates a function at its first call, because most worlds use few of theirs. */
function onDemand(make: () => EdgeFunction): EdgeFunction {
  let made: EdgeFunction | undefined
  return {
    fetch: (...asked) => {
      made ??= make()
      return made.fetch(...asked)
    },
  }
}
