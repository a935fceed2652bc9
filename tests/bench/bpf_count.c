/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf_count.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPS_MAX   256
#define STACK_SIZE 512
#define CALLS_MAX  8
#define HEADROOM   256
#define FRAME_ROOM 4096
#define STEPS_MAX  10000000u

/* A map as the program sees it: what its "pointer" points to. */
struct seen_map {
	int fd;
	uint32_t type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t stride; /* of the values in `memory` */
	uint8_t *memory; /* all values, when they are at hand */
	uint8_t *copy;	 /* else of the last one looked up */
	size_t size;	 /* of a mapping; 0: `memory` is from malloc or the caller's */
	uint32_t inner;	 /* id of the map inside another, 0: not inside */
};

struct call {
	uint32_t back; /* instruction to go on with */
	uint64_t saved[4];
	uint64_t frame;
};

struct bpf_count {
	const struct bpf_insn *code;
	uint32_t code_length;
	struct seen_map maps[MAPS_MAX];
	uint32_t map_count;
	struct xdp_md *context; /* both below 4 GB: a context names memory by 32 bits */
	uint8_t *room;
	uint64_t registers[11];
	struct call call[CALLS_MAX];
	uint32_t depth;
	uint8_t stack[CALLS_MAX + 1][STACK_SIZE] __attribute__((aligned(8)));
};

static void give_up(const char *what, long value)
{
	fprintf(stderr, "bpf_count: %s (%ld)\n", what, value);
	exit(1);
}

/* Maps: */

static void map_at_hand(struct seen_map *map, const struct bpf_map_info *info, const void *rodata)
{
	size_t page = 4096;

	map->stride = (info->value_size + 7) & ~7u;
	if (info->type == BPF_MAP_TYPE_ARRAY && info->map_flags & BPF_F_RDONLY_PROG) {
		map->memory = (uint8_t *)rodata;
	} else if (info->type == BPF_MAP_TYPE_ARRAY && info->map_flags & BPF_F_MMAPABLE) {
		map->size = ((size_t)map->stride * info->max_entries + page - 1) & ~(page - 1);
		map->memory = mmap(NULL, map->size, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);
		if (map->memory == MAP_FAILED)
			give_up("a map cannot be mapped", errno);
	} else if (info->type == BPF_MAP_TYPE_PERCPU_ARRAY) {
		map->memory = calloc(info->max_entries, map->stride);
		if (!map->memory)
			give_up("no memory for a map", info->max_entries);
	}
}

static struct seen_map *map_see(struct bpf_count *count, int fd, uint32_t inner, const void *rodata)
{
	struct bpf_map_info info = {};
	uint32_t length = sizeof(info);
	struct seen_map *map;

	for (uint32_t i = 0; i < count->map_count; i++)
		if (inner ? count->maps[i].inner == inner : count->maps[i].fd == fd)
			return &count->maps[i];
	if (count->map_count == MAPS_MAX)
		give_up("too many maps", MAPS_MAX);
	map = &count->maps[count->map_count++];
	map->fd = inner ? bpf_map_get_fd_by_id(inner) : fd;
	map->inner = inner;
	if (map->fd < 0 || bpf_obj_get_info_by_fd(map->fd, &info, &length))
		give_up("a map cannot be asked", errno);
	map->type = info.type;
	map->key_size = info.key_size;
	map->value_size = info.value_size;
	map->max_entries = info.max_entries;
	map_at_hand(map, &info, rodata);
	map->copy = malloc(info.value_size);
	if (!map->copy)
		give_up("no memory for a value", info.value_size);
	return map;
}

static uint64_t map_lookup(struct bpf_count *count, struct seen_map *map, const void *key)
{
	uint32_t index, id;

	if (map->memory) {
		memcpy(&index, key, sizeof(index));
		return index < map->max_entries
			       ? (uint64_t)(map->memory + (size_t)index * map->stride)
			       : 0;
	}
	if (map->type == BPF_MAP_TYPE_ARRAY_OF_MAPS || map->type == BPF_MAP_TYPE_HASH_OF_MAPS)
		return bpf_map_lookup_elem(map->fd, key, &id)
			       ? 0
			       : (uint64_t)map_see(count, -1, id, NULL);
	return bpf_map_lookup_elem(map->fd, key, map->copy) ? 0 : (uint64_t)map->copy;
}

/* Helpers: */

static uint64_t move_edge(uint32_t *edge, uint64_t by)
{
	*edge += (uint32_t)by;
	return 0;
}

static void call_helper(struct bpf_count *count, int32_t helper)
{
	uint64_t *r = count->registers;

	switch (helper) {
	case BPF_FUNC_map_lookup_elem:
		r[0] = map_lookup(count, (struct seen_map *)r[1], (const void *)r[2]);
		break;
	case BPF_FUNC_xdp_adjust_head:
		r[0] = move_edge(&count->context->data, r[2]);
		break;
	case BPF_FUNC_xdp_adjust_tail:
		r[0] = move_edge(&count->context->data_end, r[2]);
		break;
	case BPF_FUNC_xdp_get_buff_len:
		r[0] = count->context->data_end - count->context->data;
		break;
	case BPF_FUNC_redirect:
	case BPF_FUNC_redirect_map:
		r[0] = XDP_REDIRECT;
		break;
	case BPF_FUNC_get_smp_processor_id:
		r[0] = 0;
		break;
	default:
		give_up("the packet comes to a helper that is not known here; add it", helper);
	}
	/* What a caller may not rely on. */
	for (int i = 1; i <= 5; i++)
		r[i] = 0xdeaddeaddeaddeadull;
}

/* Instructions: */

static uint64_t swap_bytes(uint64_t value, int32_t bits, bool to_big)
{
	if (bits == 16)
		return to_big ? __builtin_bswap16((uint16_t)value) : (uint16_t)value;
	if (bits == 32)
		return to_big ? __builtin_bswap32((uint32_t)value) : (uint32_t)value;
	return to_big ? __builtin_bswap64(value) : value;
}

static uint64_t run_arithmetic(uint8_t op, bool wide, uint64_t a, uint64_t b)
{
	uint32_t shift = (uint32_t)b & (wide ? 63 : 31);

	if (!wide) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << shift;
	case BPF_RSH:
		return a >> shift;
	case BPF_ARSH:
		return wide ? (uint64_t)((int64_t)a >> shift)
			    : (uint32_t)((int32_t)(uint32_t)a >> shift);
	case BPF_NEG:
		return -a;
	case BPF_MOV:
		return b;
	default:
		give_up("an arithmetic instruction that is not known here", op);
		return 0;
	}
}

static bool is_true(uint8_t op, bool wide, uint64_t a, uint64_t b)
{
	int64_t sa = wide ? (int64_t)a : (int32_t)(uint32_t)a;
	int64_t sb = wide ? (int64_t)b : (int32_t)(uint32_t)b;

	if (!wide) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSET:
		return a & b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	case BPF_JSLE:
		return sa <= sb;
	default:
		give_up("a jump that is not known here", op);
		return false;
	}
}

static uint32_t access_size(uint8_t code)
{
	static const uint8_t size[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8};

	return size[BPF_SIZE(code) >> 3];
}

static uint64_t load(uint64_t address, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, (const void *)address, size);
	return value;
}

static void store(uint64_t address, uint32_t size, uint64_t value)
{
	memcpy((void *)address, &value, size);
}

/* One thread, so plain loads and stores are atomic enough. */
static void run_atomic(uint64_t *r, const struct bpf_insn *insn)
{
	uint64_t address = r[insn->dst_reg] + (uint64_t)(int64_t)insn->off;
	uint32_t size = access_size(insn->code);
	uint64_t old = load(address, size), operand = r[insn->src_reg];

	if (insn->imm == BPF_CMPXCHG) {
		if (old == (size == 4 ? (uint32_t)r[0] : r[0]))
			store(address, size, operand);
		r[0] = old;
		return;
	}
	if (insn->imm == BPF_XCHG)
		store(address, size, operand);
	else
		store(address, size,
			run_arithmetic((uint8_t)(insn->imm & ~BPF_FETCH), size == 8, old, operand));
	if (insn->imm & BPF_FETCH)
		r[insn->src_reg] = old;
}

static void load_wide(struct bpf_count *count, const struct bpf_insn *insn)
{
	uint64_t *to = &count->registers[insn->dst_reg];

	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		*to = (uint64_t)map_see(count, insn->imm, 0, NULL);
	else if (insn->src_reg == BPF_PSEUDO_MAP_VALUE)
		*to = (uint64_t)map_see(count, insn->imm, 0, NULL)->memory + (uint32_t)insn[1].imm;
	else if (insn->src_reg == 0)
		*to = (uint64_t)(uint32_t)insn[1].imm << 32 | (uint32_t)insn->imm;
	else
		give_up("a constant of a kind that is not known here", insn->src_reg);
}

static void enter(struct bpf_count *count, uint32_t back)
{
	struct call *call = &count->call[count->depth];

	if (++count->depth > CALLS_MAX)
		give_up("functions call each other too deep", CALLS_MAX);
	call->back = back;
	memcpy(call->saved, count->registers + 6, sizeof(call->saved));
	call->frame = count->registers[10];
	count->registers[10] = (uint64_t)(count->stack[count->depth] + STACK_SIZE);
}

static uint32_t leave(struct bpf_count *count)
{
	const struct call *call = &count->call[--count->depth];

	memcpy(count->registers + 6, call->saved, sizeof(call->saved));
	count->registers[10] = call->frame;
	return call->back;
}

/* A jump or call at `at`; returns the instruction that follows. */
static uint32_t run_jump(struct bpf_count *count, uint32_t at, struct bpf_count_sum *sum)
{
	const struct bpf_insn *insn = &count->code[at];
	uint64_t *r = count->registers;
	uint64_t operand =
		BPF_SRC(insn->code) == BPF_X ? r[insn->src_reg] : (uint64_t)(int64_t)insn->imm;

	if (BPF_OP(insn->code) == BPF_CALL && insn->src_reg == BPF_PSEUDO_CALL) {
		enter(count, at + 1);
		return at + 1 + (uint32_t)insn->imm;
	}
	if (BPF_OP(insn->code) == BPF_CALL) {
		sum->calls++;
		call_helper(count, insn->imm);
		return at + 1;
	}
	if (!is_true(BPF_OP(insn->code), BPF_CLASS(insn->code) == BPF_JMP, r[insn->dst_reg],
		    operand))
		return at + 1;
	return at + 1 + (uint32_t)(int32_t)insn->off;
}

/* Anything but a jump; true when it takes two places. */
static bool run_plain(struct bpf_count *count, const struct bpf_insn *insn)
{
	uint64_t *r = count->registers, *to = &r[insn->dst_reg];
	uint64_t operand =
		BPF_SRC(insn->code) == BPF_X ? r[insn->src_reg] : (uint64_t)(int64_t)insn->imm;
	uint64_t offset = (uint64_t)(int64_t)insn->off;
	bool wide = false;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU64:
		wide = true;
		/* fall through */
	case BPF_ALU:
		if (BPF_OP(insn->code) == BPF_END)
			*to = swap_bytes(*to, insn->imm, BPF_SRC(insn->code) == BPF_TO_BE);
		else
			*to = run_arithmetic(BPF_OP(insn->code), wide, *to, operand);
		if (!wide && BPF_OP(insn->code) != BPF_END)
			*to = (uint32_t)*to;
		return false;
	case BPF_LDX:
		*to = load(r[insn->src_reg] + offset, access_size(insn->code));
		return false;
	case BPF_ST:
		store(*to + offset, access_size(insn->code), (uint64_t)(int64_t)insn->imm);
		return false;
	case BPF_STX:
		if (BPF_MODE(insn->code) == BPF_ATOMIC)
			run_atomic(r, insn);
		else
			store(*to + offset, access_size(insn->code), r[insn->src_reg]);
		return false;
	default:
		load_wide(count, insn);
		return true;
	}
}

static uint32_t run_program(struct bpf_count *count, struct bpf_count_sum *sum)
{
	uint32_t at = 0;

	for (uint32_t steps = 0; steps < STEPS_MAX; steps++) {
		const struct bpf_insn *insn = &count->code[at];
		uint8_t class = BPF_CLASS(insn->code);

		if (at >= count->code_length)
			give_up("the program ran out of its code", at);
		sum->instructions++;
		if (insn->code == (BPF_JMP | BPF_EXIT)) {
			if (!count->depth)
				return (uint32_t)count->registers[0];
			at = leave(count);
		} else if (class == BPF_JMP || class == BPF_JMP32) {
			at = run_jump(count, at, sum);
		} else {
			at += run_plain(count, insn) ? 2 : 1;
		}
	}
	give_up("the program does not end", STEPS_MAX);
	return 0;
}

struct bpf_count *bpf_count_new(
	struct bpf_object *object, const struct bpf_program *program, const void *rodata)
{
	struct bpf_count *count = calloc(1, sizeof(*count));
	size_t size = FRAME_ROOM + sizeof(*count->context);
	struct bpf_map *map;

	if (!count)
		give_up("no memory", ENOMEM);
	count->room = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (count->room == MAP_FAILED)
		give_up("no memory below 4 GB", errno);
	count->context = (struct xdp_md *)(count->room + FRAME_ROOM);
	count->code = bpf_program__insns(program);
	count->code_length = (uint32_t)bpf_program__insn_cnt(program);
	bpf_object__for_each_map(map, object) map_see(count, bpf_map__fd(map), 0, rodata);
	return count;
}

void bpf_count_free(struct bpf_count *count)
{
	for (uint32_t i = 0; count && i < count->map_count; i++) {
		struct seen_map *map = &count->maps[i];

		if (map->size)
			munmap(map->memory, map->size);
		else if (map->type == BPF_MAP_TYPE_PERCPU_ARRAY)
			free(map->memory);
		if (map->inner)
			close(map->fd);
		free(map->copy);
	}
	if (count)
		munmap(count->room, FRAME_ROOM + sizeof(*count->context));
	free(count);
}

uint32_t bpf_count_frame(struct bpf_count *count, const void *frame, size_t length,
	uint32_t ifindex, struct bpf_count_sum *sum)
{
	uint8_t *data = count->room + HEADROOM;

	memcpy(data, frame, length);
	*count->context = (struct xdp_md){.data = (uint32_t)(uint64_t)data,
		.data_end = (uint32_t)(uint64_t)(data + length),
		.ingress_ifindex = ifindex};
	count->depth = 0;
	count->registers[1] = (uint64_t)count->context;
	count->registers[10] = (uint64_t)(count->stack[0] + STACK_SIZE);
	return run_program(count, sum);
}

const void *bpf_count_output(const struct bpf_count *count, size_t *length)
{
	*length = count->context->data_end - count->context->data;
	return (const void *)(uint64_t)count->context->data;
}
