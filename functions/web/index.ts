import { webFunction } from './app.tsx'
import { routes as action } from './pages/action.tsx'
import { routes as deposit } from './pages/deposit.tsx'
import { routes as join } from './pages/join.tsx'
import { routes as keepWallet } from './pages/keep-wallet.tsx'
import { routes as overview } from './pages/overview.tsx'
import { routes as register } from './pages/register.tsx'

/** Every page of the app, in no order that matters: no path of one is the beginning of another's. */
export const pages = [action, deposit, join, keepWallet, overview, register]

export default webFunction(pages)
