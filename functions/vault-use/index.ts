import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultUse } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultUse, run)
