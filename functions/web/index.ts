import { webFunction } from './app.tsx'
import { routes as overview } from './pages/overview.tsx'

/** Every page of the app, in no order that matters: no path of one is the beginning of another's. */
export const pages = [overview]

export default webFunction(pages)
