import { webFunction } from './app.tsx'
import { routes as join } from './pages/join.tsx'
import { routes as overview } from './pages/overview.tsx'
import { routes as register } from './pages/register.tsx'

/** Every page of the app, in no order that matters: no path of one is the beginning of another's. */
export const pages = [overview, join, register]

export default webFunction(pages)
