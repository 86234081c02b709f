/** The list of all operations. Documents, tools and tests read this and nothing else. */
import type { Operation } from '../shared/contract/operation.ts'
import { accountExposure } from './account-exposure/contract.ts'
import { accountFreeze } from './account-freeze/contract.ts'
import { checkAlias } from './check-availability/contract.ts'
import { confirmRegistrationCode } from './confirm-registration-code/contract.ts'
import { consentReceipt } from './consent-receipt/contract.ts'
import { createAccount } from './create-account/contract.ts'
import { createHostedAction } from './create-hosted-action/contract.ts'
import { defiOrderCancel } from './defi-order-cancel/contract.ts'
import { defiOrderCreate } from './defi-order-create/contract.ts'
import { defiOrderEvents } from './defi-order-events/contract.ts'
import { defiOrdersList } from './defi-orders-list/contract.ts'
import { defiVaultsList } from './defi-vaults-list/contract.ts'
import { getIdentity } from './get-identity/contract.ts'
import { walletBalances } from './get-wallet-balances/contract.ts'
import { hostedActionStatus } from './hosted-action-status/contract.ts'
import { mailList } from './mail-list/contract.ts'
import { mailRead } from './mail-read/contract.ts'
import { mailSend } from './mail-send/contract.ts'
import { mailWait } from './mail-wait/contract.ts'
import { paymentMandateCreate } from './payment-mandate-create/contract.ts'
import { paymentMandateRevoke } from './payment-mandate-revoke/contract.ts'
import { paymentMandateStatement } from './payment-mandate-statement/contract.ts'
import { paymentMandateStatus } from './payment-mandate-status/contract.ts'
import { requestSignupVerification } from './request-signup-verification/contract.ts'
import { resolveTransferRecipient } from './resolve-transfer-recipient/contract.ts'
import { transferStatus } from './transfer-status/contract.ts'
import { storeSiteCredentials, userSiteCredentials } from './user-site-credentials/contract.ts'
import { vaultDelete } from './vault-delete/contract.ts'
import { vaultGenerate } from './vault-generate/contract.ts'
import { vaultList } from './vault-list/contract.ts'
import { vaultLogin } from './vault-login/contract.ts'
import { vaultSession } from './vault-session/contract.ts'
import { vaultStore } from './vault-store/contract.ts'
import { vaultTotp } from './vault-totp/contract.ts'
import { vaultUse } from './vault-use/contract.ts'
import { walletActivityList } from './wallet-activity-list/contract.ts'
import { walletCustodialTransfer } from './wallet-custodial-transfer/contract.ts'
import { x402PaymentExecute } from './x402-payment-execute/contract.ts'
import { x402PaymentPrepare } from './x402-payment-prepare/contract.ts'

/** Contracts of all operations, in the order in which the documents list them. */
export const contracts: readonly Operation[] = [
  getIdentity,
  checkAlias,
  requestSignupVerification,
  confirmRegistrationCode,
  createAccount,
  walletBalances,
  resolveTransferRecipient,
  walletCustodialTransfer,
  transferStatus,
  x402PaymentPrepare,
  x402PaymentExecute,
  paymentMandateCreate,
  paymentMandateStatus,
  paymentMandateRevoke,
  paymentMandateStatement,
  defiVaultsList,
  defiOrderCreate,
  defiOrdersList,
  defiOrderCancel,
  defiOrderEvents,
  walletActivityList,
  accountExposure,
  accountFreeze,
  createHostedAction,
  hostedActionStatus,
  consentReceipt,
  storeSiteCredentials,
  userSiteCredentials,
  vaultList,
  vaultStore,
  vaultTotp,
  vaultGenerate,
  vaultDelete,
  vaultUse,
  vaultLogin,
  vaultSession,
  mailList,
  mailRead,
  mailWait,
  mailSend,
]
