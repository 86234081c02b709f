// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

// The proxies of x402 by their published interface and source, as far as they move money, and what
// merchants, payees and facilitators may be who write contracts.

struct TokenPermissions {
    address token;
    uint256 amount;
}

struct Permit {
    TokenPermissions permitted;
    uint256 nonce;
    uint256 deadline;
}

struct Details {
    address to;
    uint256 requestedAmount;
}

interface Token {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface Permit2 {
    function permitWitnessTransferFrom(
        Permit calldata permit,
        Details calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessType,
        bytes calldata signature
    ) external;
}

Permit2 constant permit2 = Permit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

contract ExactProxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    error PaymentTooEarly();

    function settle(
        Permit calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        permit2.permitWitnessTransferFrom(
            permit,
            Details(witness.to, permit.permitted.amount),
            owner,
            keccak256(abi.encode(keccak256("Witness(address to,uint256 validAfter)"), witness)),
            "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)",
            signature
        );
    }
}

contract UptoProxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    error PaymentTooEarly();
    error UnauthorizedFacilitator();
    error AmountExceedsPermitted();
    error InvalidAmount();

    function settle(
        Permit calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        if (amount == 0) revert InvalidAmount();
        permit2.permitWitnessTransferFrom(
            permit,
            Details(witness.to, amount),
            owner,
            keccak256(
                abi.encode(
                    keccak256("Witness(address to,address facilitator,uint256 validAfter)"),
                    witness
                )
            ),
            "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)",
            signature
        );
    }
}

// A facilitator that is a contract: it does anything in one transaction, or what it was told before,
// so that the call itself shows nothing, and it writes as many transfers of nothing as it likes.
contract Crowd {
    struct Step {
        address target;
        bytes data;
    }

    Step[] private stored;

    function run(Step[] calldata steps) external {
        for (uint256 at; at < steps.length; ++at) call(steps[at].target, steps[at].data);
    }

    function store(Step[] calldata steps) external {
        for (uint256 at; at < steps.length; ++at) stored.push(steps[at]);
    }

    function fire() external {
        Step[] memory steps = stored;
        delete stored;
        for (uint256 at; at < steps.length; ++at) call(steps[at].target, steps[at].data);
    }

    function flood(Token token, address from, address to, uint256 times) external {
        for (uint256 at; at < times; ++at) token.transferFrom(from, to, 0);
    }

    // Ignores a failure of the call.
    function call(address target, bytes memory data) private {
        (bool done, ) = target.call(data);
        done;
    }
}
