/* SPDX-License-Identifier: BSD-2-Clause */
#include "tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK 512

struct tar {
	gzFile file;
	int error;
};

/* The header of a file in a ustar archive; numbers are octal text. */
struct header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char major[8];
	char minor[8];
	char prefix[155];
	char padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

int tar_open(const char *path, struct tar **out)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct tar *tar = calloc(1, sizeof(*tar));

	if (fd < 0 || !tar) {
		int error = fd < 0 ? -errno : -ENOMEM;

		free(tar);
		return error;
	}
	tar->file = gzdopen(fd, "wb");
	if (!tar->file) {
		close(fd);
		free(tar);
		return -ENOMEM;
	}
	*out = tar;
	return 0;
}

static void put(struct tar *tar, const void *data, size_t length)
{
	if (!tar->error && length && gzwrite(tar->file, data, (unsigned int)length) != (int)length)
		tar->error = errno ? -errno : -EIO;
}

/* The sum of the header's bytes, its own field counted as blanks. */
static void checksum_set(struct header *header)
{
	const unsigned char *bytes = (const void *)header;
	unsigned int sum = 0;

	memset(header->checksum, ' ', sizeof(header->checksum));
	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	snprintf(header->checksum, sizeof(header->checksum), "%06o", sum);
}

int tar_add(struct tar *tar, const char *name, const char *data, size_t length, time_t when)
{
	static const char zeros[BLOCK];
	struct header header = {.mode = "0000600",
		.uid = "0000000",
		.gid = "0000000",
		.type = '0',
		.magic = "ustar"};

	if (strlen(name) >= sizeof(header.name))
		return -ENAMETOOLONG;
	memcpy(header.name, name, strlen(name));
	memcpy(header.version, "00", 2);
	snprintf(header.size, sizeof(header.size), "%011zo", length);
	snprintf(header.mtime, sizeof(header.mtime), "%011llo", (unsigned long long)when);
	checksum_set(&header);
	errno = 0;
	put(tar, &header, sizeof(header));
	put(tar, data, length);
	put(tar, zeros, (BLOCK - length % BLOCK) % BLOCK);
	return tar->error;
}

int tar_close(struct tar *tar)
{
	static const char zeros[2 * BLOCK];
	int error;

	put(tar, zeros, sizeof(zeros));
	error = tar->error;
	if (gzclose(tar->file) != Z_OK && !error)
		error = -EIO;
	free(tar);
	return error;
}
