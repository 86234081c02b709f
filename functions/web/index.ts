import { webFunction } from './app.tsx'
import { routes as action } from './pages/action.tsx'
import { routes as activity } from './pages/activity.tsx'
import { routes as activityItem } from './pages/activity-item.tsx'
import { routes as deposit } from './pages/deposit.tsx'
import { routes as keepWallet } from './pages/keep-wallet.tsx'
import { routes as overview } from './pages/overview.tsx'

/** Every page of the app, in no order that matters: no path of one is the beginning of another's. */
export const pages = [action, activity, activityItem, deposit, keepWallet, overview]

export default webFunction(pages)
