import { webFunction } from './app.tsx'
import { routes as addRecipient } from './pages/add-recipient.tsx'
import { routes as approvals } from './pages/approvals.tsx'
import { routes as approve } from './pages/approve.tsx'
import { routes as freeze } from './pages/freeze.tsx'
import { routes as key } from './pages/key.tsx'
import { routes as keys } from './pages/keys.tsx'
import { routes as limits } from './pages/limits.tsx'
import { routes as overview } from './pages/overview.tsx'
import { routes as recipients } from './pages/recipients.tsx'

/** Every page of the app, in no order that matters: no path of one is the beginning of another's. */
export const pages = [
  addRecipient,
  approvals,
  approve,
  freeze,
  key,
  keys,
  limits,
  overview,
  recipients,
]

export default webFunction(pages)
