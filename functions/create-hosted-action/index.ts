import { edgeFunction } from '../../shared/http/edge.ts'
import { createHostedAction } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(createHostedAction, run)
