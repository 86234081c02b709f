import { routes as action } from './actions/action.tsx'
import { routes as deposit } from './actions/deposit.tsx'
import { routes as keepWallet } from './actions/keep-wallet.tsx'
import { routes as activity } from './activity/activity.tsx'
import { routes as activityItem } from './activity/activity-item.tsx'
import { routes as payment } from './activity/payment.tsx'
import { webFunction } from './app.tsx'
import { routes as always } from './approvals/always.tsx'
import { routes as approvals } from './approvals/approvals.tsx'
import { routes as approve } from './approvals/approve.tsx'
import { routes as approveBatch } from './approvals/approve-batch.tsx'
import { routes as receipts } from './approvals/receipts.ts'
import { routes as app } from './apps/app.tsx'
import { routes as apps } from './apps/apps.tsx'
import { routes as authorize } from './apps/authorize.tsx'
import { routes as device } from './apps/device.tsx'
import { routes as connect } from './keys/connect.tsx'
import { routes as key } from './keys/key.tsx'
import { routes as keys } from './keys/keys.tsx'
import { routes as limits } from './limits/limits.tsx'
import { routes as mail } from './mailbox/mail.tsx'
import { routes as mailOpened } from './mailbox/mail-opened.tsx'
import { routes as mandate } from './mandates/mandate.tsx'
import { routes as mandates } from './mandates/mandates.tsx'
import { routes as newMandate } from './mandates/new-mandate.tsx'
import { routes as installed } from './notifications/installed.ts'
import { routes as notifications } from './notifications/notifications.tsx'
import { routes as firstSteps } from './overview/first-steps.tsx'
import { routes as overview } from './overview/overview.tsx'
import { routes as addRecipient } from './recipients/add-recipient.tsx'
import { routes as recipientLabel } from './recipients/label.tsx'
import { routes as recipients } from './recipients/recipients.tsx'
import { routes as close } from './security/close.tsx'
import { routes as closed } from './security/closed.tsx'
import { routes as freeze } from './security/freeze.tsx'
import { routes as hold } from './security/hold.tsx'
import { routes as jwks } from './security/jwks.ts'
import { routes as mailAddress } from './security/mail-address.tsx'
import { routes as proof } from './security/proof.tsx'
import { routes as secure } from './security/secure.tsx'
import { routes as security } from './security/security.tsx'
import { routes as securityPasskeys } from './security/security-passkeys.tsx'
import { routes as securityPassword } from './security/security-password.tsx'
import { routes as securityRecoveryCodes } from './security/security-recovery-codes.tsx'
import { routes as securitySessions } from './security/security-sessions.tsx'
import { routes as send } from './send/send.tsx'
import { routes as join } from './sign-in/join.tsx'
import { routes as login } from './sign-in/login.tsx'
import { routes as loginRecovery } from './sign-in/login-recovery.tsx'
import { routes as logout } from './sign-in/logout.tsx'
import { routes as register } from './sign-in/register.tsx'
import { routes as spending } from './spending/spending.tsx'
import { routes as vault } from './vault/vault.tsx'
import { routes as vaultDestinations } from './vault/vault-destinations.tsx'
import { routes as vaultEntry } from './vault/vault-entry.tsx'
import { routes as vaultNew } from './vault/vault-new.tsx'
import { routes as yieldRule } from './yield/rule.tsx'
import { routes as yields } from './yield/yield.tsx'

/** Pages of the app, in any order: no route of one page hides a route of another. */
export const pages = [
  action,
  activityItem,
  activity,
  addRecipient,
  app,
  apps,
  approvals,
  approveBatch,
  approve,
  always,
  authorize,
  close,
  closed,
  connect,
  deposit,
  device,
  firstSteps,
  freeze,
  hold,
  join,
  jwks,
  keepWallet,
  key,
  keys,
  limits,
  loginRecovery,
  login,
  logout,
  mailAddress,
  mailOpened,
  mail,
  mandate,
  mandates,
  newMandate,
  installed,
  notifications,
  overview,
  payment,
  proof,
  receipts,
  recipientLabel,
  recipients,
  register,
  secure,
  securityPasskeys,
  securityPassword,
  securityRecoveryCodes,
  securitySessions,
  send,
  security,
  spending,
  vaultEntry,
  vaultNew,
  vaultDestinations,
  vault,
  yieldRule,
  yields,
]

export default webFunction(pages)
