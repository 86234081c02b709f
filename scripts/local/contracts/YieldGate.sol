// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

interface Eip3009 {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
}

/// Puts a payer's tokens into an ERC-4626 vault, and takes them out again, on one EIP-3009 signature. The nonce
/// of the signature commits to the order, so whoever carries it can do nothing else with it. The gate holds the
/// shares for their payers. It has no owner and cannot be changed, and it sends tokens to nobody but the vault of
/// an order and its payer. It measures what a vault did by balances and believes none of its answers.
contract YieldGate is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    struct Authorization {
        address from;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 base;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    /// A deposit pays the authorized value in: at least `shares` must come of it, worth `minimumOut`. A
    /// withdrawal redeems exactly `shares`: at least `minimumOut` tokens must come of it.
    struct Order {
        address vault;
        bool isDeposit;
        uint256 shares;
        uint256 minimumOut;
    }

    IERC20 public immutable token;
    mapping(address payer => mapping(address vault => uint256 shares)) public sharesOf;

    event Deposited(address indexed payer, address indexed vault, uint256 value, uint256 shares);
    event Withdrawn(address indexed payer, address indexed vault, uint256 value, uint256 shares);

    error LessThanOrdered(uint256 shares, uint256 value);

    constructor(IERC20 its) {
        token = its;
    }

    /// Takes the authorized value and executes the order that its nonce commits to, as a whole or not at all.
    function carry(Authorization calldata held, bytes calldata order) external nonReentrant {
        uint256 before = token.balanceOf(address(this));
        Eip3009(address(token)).receiveWithAuthorization(
            held.from,
            address(this),
            held.value,
            held.validAfter,
            held.validBefore,
            keccak256(abi.encodePacked(held.base, keccak256(order))),
            held.v,
            held.r,
            held.s
        );
        Order memory wanted = abi.decode(order, (Order));
        if (wanted.isDeposit) deposit(held.from, held.value, wanted);
        else withdraw(held.from, wanted);
        // Received tokens, and what a vault did not take.
        uint256 left = token.balanceOf(address(this)) - before;
        if (left > 0) token.safeTransfer(held.from, left);
    }

    function deposit(address payer, uint256 value, Order memory wanted) private {
        IERC4626 vault = IERC4626(wanted.vault);
        uint256 before = vault.balanceOf(address(this));
        token.forceApprove(wanted.vault, value);
        vault.deposit(value, address(this));
        token.forceApprove(wanted.vault, 0);
        uint256 shares = vault.balanceOf(address(this)) - before;
        uint256 worth = vault.previewRedeem(shares);
        if (shares < wanted.shares || worth < wanted.minimumOut) revert LessThanOrdered(shares, worth);
        sharesOf[payer][wanted.vault] += shares;
        emit Deposited(payer, wanted.vault, value, shares);
    }

    function withdraw(address payer, Order memory wanted) private {
        sharesOf[payer][wanted.vault] -= wanted.shares;
        uint256 before = token.balanceOf(address(this));
        IERC4626(wanted.vault).redeem(wanted.shares, address(this), address(this));
        uint256 received = token.balanceOf(address(this)) - before;
        if (received < wanted.minimumOut) revert LessThanOrdered(wanted.shares, received);
        emit Withdrawn(payer, wanted.vault, received, wanted.shares);
    }
}
