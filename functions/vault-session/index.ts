import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultSession } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultSession, run)
