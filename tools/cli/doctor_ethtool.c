/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to drivers by the ioctl that ethtool(8) uses (<linux/ethtool.h>). */
#include "doctor.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define FEATURES_MAX 512u

static int ask(const char *interface, void *data)
{
	struct ifreq request = {.ifr_data = data};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0)
		return -errno;
	strncpy(request.ifr_name, interface, IF_NAMESIZE - 1);
	if (ioctl(fd, SIOCETHTOOL, &request))
		error = -errno;
	close(fd);
	return error;
}

static int features_count(const char *interface, uint32_t *count)
{
	uint64_t room[(sizeof(struct ethtool_sset_info) + sizeof(uint32_t) + 7) / 8] = {0};
	struct ethtool_sset_info *info = (void *)room;
	int error;

	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ull << ETH_SS_FEATURES;
	error = ask(interface, info);
	if (error)
		return error;
	*count = info->sset_mask ? info->data[0] : 0;
	return *count && *count <= FEATURES_MAX ? 0 : -EOPNOTSUPP;
}

/* The place of a feature in the kernel's list; -errno. */
static int feature_index(const char *interface, uint32_t count, const char *feature)
{
	struct ethtool_gstrings *names =
		calloc(1, sizeof(*names) + (size_t)count * ETH_GSTRING_LEN);
	int found = -ENOENT;

	if (!names)
		return -ENOMEM;
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = count;
	if (ask(interface, names))
		found = -EOPNOTSUPP;
	for (uint32_t i = 0; i < count && found == -ENOENT; i++)
		if (!strncmp((const char *)names->data + (size_t)i * ETH_GSTRING_LEN, feature,
			    ETH_GSTRING_LEN))
			found = (int)i;
	free(names);
	return found;
}

int doctor_feature(const char *interface, const char *feature, bool *on, bool *fixed)
{
	uint32_t room[(sizeof(struct ethtool_gfeatures) +
			      FEATURES_MAX / 32 * sizeof(struct ethtool_get_features_block)) /
		      sizeof(uint32_t)] = {0};
	struct ethtool_gfeatures *state = (void *)room;
	const struct ethtool_get_features_block *block;
	uint32_t count, bit;
	int error = features_count(interface, &count);
	int index;

	if (error)
		return error;
	index = feature_index(interface, count, feature);
	if (index < 0)
		return index;
	state->cmd = ETHTOOL_GFEATURES;
	state->size = FEATURES_MAX / 32;
	error = ask(interface, state);
	if (error)
		return error;
	block = &state->features[index / 32];
	bit = 1u << (index % 32);
	*on = block->active & bit;
	*fixed = !(block->available & bit) || (block->never_changed & bit);
	return 0;
}

int doctor_channels(const char *interface, struct doctor_channels *channels)
{
	struct ethtool_channels answer = {.cmd = ETHTOOL_GCHANNELS};
	int error = ask(interface, &answer);

	if (error)
		return error;
	channels->combined = answer.max_combined != 0;
	channels->now = answer.combined_count + answer.rx_count;
	channels->most = answer.max_combined > answer.max_rx ? answer.max_combined : answer.max_rx;
	return 0;
}

int doctor_driver(const char *interface, char driver[static 32])
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	int error = ask(interface, &info);

	if (!error)
		memcpy(driver, info.driver, 32);
	return error;
}
