import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultDelete } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultDelete, run)
