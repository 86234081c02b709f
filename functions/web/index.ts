import { webFunction } from './app.tsx'
import { routes as action } from './pages/action.tsx'
import { routes as activity } from './pages/activity.tsx'
import { routes as activityItem } from './pages/activity-item.tsx'
import { routes as addRecipient } from './pages/add-recipient.tsx'
import { routes as app } from './pages/app.tsx'
import { routes as approvals } from './pages/approvals.tsx'
import { routes as approve } from './pages/approve.tsx'
import { routes as approveBatch } from './pages/approve-batch.tsx'
import { routes as apps } from './pages/apps.tsx'
import { routes as authorize } from './pages/authorize.tsx'
import { routes as deposit } from './pages/deposit.tsx'
import { routes as freeze } from './pages/freeze.tsx'
import { routes as join } from './pages/join.tsx'
import { routes as jwks } from './pages/jwks.ts'
import { routes as keepWallet } from './pages/keep-wallet.tsx'
import { routes as key } from './pages/key.tsx'
import { routes as keys } from './pages/keys.tsx'
import { routes as limits } from './pages/limits.tsx'
import { routes as login } from './pages/login.tsx'
import { routes as loginRecovery } from './pages/login-recovery.tsx'
import { routes as logout } from './pages/logout.tsx'
import { routes as mail } from './pages/mail.tsx'
import { routes as mailOpened } from './pages/mail-opened.tsx'
import { routes as mandate } from './pages/mandate.tsx'
import { routes as mandates } from './pages/mandates.tsx'
import { routes as notMe } from './pages/not-me.tsx'
import { routes as overview } from './pages/overview.tsx'
import { routes as proof } from './pages/proof.tsx'
import { routes as receipts } from './pages/receipts.ts'
import { routes as recipients } from './pages/recipients.tsx'
import { routes as register } from './pages/register.tsx'
import { routes as security } from './pages/security.tsx'
import { routes as securityPasskeys } from './pages/security-passkeys.tsx'
import { routes as securityPassword } from './pages/security-password.tsx'
import { routes as securityRecoveryCodes } from './pages/security-recovery-codes.tsx'
import { routes as securitySessions } from './pages/security-sessions.tsx'

import { routes as vault } from './pages/vault.tsx'
import { routes as vaultEntry } from './pages/vault-entry.tsx'
import { routes as vaultNew } from './pages/vault-new.tsx'
import { routes as vaultPlaces } from './pages/vault-places.tsx'

/** Every page of the app, in no order that matters: no path of one is the beginning of another's. */
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
  authorize,
  deposit,
  freeze,
  join,
  jwks,
  keepWallet,
  key,
  keys,
  limits,
  loginRecovery,
  login,
  logout,
  mailOpened,
  mail,
  mandate,
  mandates,
  notMe,
  overview,
  proof,
  receipts,
  recipients,
  register,
  securityPasskeys,
  securityPassword,
  securityRecoveryCodes,
  securitySessions,
  security,
  vaultEntry,
  vaultNew,
  vaultPlaces,
  vault,
]

export default webFunction(pages)
